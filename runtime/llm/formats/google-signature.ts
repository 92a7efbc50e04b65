const MARK = "google:";

/**
 * A thought signature of Google's models, as it goes to a client beside a thought: there it stands where those of other
 * providers do, who refuse what they have not signed.
 */
export function markSignature(signature: string): string {
  return MARK + signature;
}

/** The signature of Google's models that a thought came back with; undefined when it is another provider's, or none. */
export function googleSignature(signature: string | undefined): string | undefined {
  return signature?.startsWith(MARK) === true ? signature.slice(MARK.length) : undefined;
}
