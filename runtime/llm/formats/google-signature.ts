const MARK = "google:";

/**
 * Marks a thought signature of Google's models. Clients receive it in place of other providers' signatures of reasoning, and
 * those providers refuse signatures that are not their own.
 */
export function markSignature(signature: string): string {
  return MARK + signature;
}

/**
 * Returns the signature of Google's models from a client's reasoning; `undefined` if it belongs to another provider, or is
 * absent.
 */
export function googleSignature(signature: string | undefined): string | undefined {
  return signature?.startsWith(MARK) === true ? signature.slice(MARK.length) : undefined;
}
