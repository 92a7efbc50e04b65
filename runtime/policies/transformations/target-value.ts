import { canonicalTarget } from "../../http/routing/path.ts";

/**
 * Converts the value of an expression to a canonical request target in origin form. Returns `undefined` if it contains
 * spaces, control characters or `#` (RFC 9112 3.2.1), or has no canonical form. Other characters are percent-encoded.
 */
export function targetValue(value: unknown): string | undefined {
  if (typeof value !== "string" || !value.startsWith("/")) return undefined;
  if (/[\u0000-\u0020\u007f#\\]/.test(value)) return undefined;
  const encoded = value.replace(/[^\u0021-\u007e]+/gu, (text) =>
    Array.from(Buffer.from(text, "utf8"), (byte) => `%${byte.toString(16).toUpperCase()}`).join(""),
  );
  return canonicalTarget(encoded);
}
