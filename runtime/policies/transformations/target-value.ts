import { canonicalTarget } from "../../http/routing/path.ts";

/**
 * The value of an expression as a request target in origin form, in the one form of paths; undefined for what is none:
 * spaces, control characters and `#` (RFC 9112 3.2.1), and what has no such form. Other characters are percent-encoded.
 */
export function targetValue(value: unknown): string | undefined {
  if (typeof value !== "string" || !value.startsWith("/")) return undefined;
  if (/[\u0000-\u0020\u007f#\\]/.test(value)) return undefined;
  const encoded = value.replace(/[^\u0021-\u007e]+/gu, (text) =>
    Array.from(Buffer.from(text, "utf8"), (byte) => `%${byte.toString(16).toUpperCase()}`).join(""),
  );
  return canonicalTarget(encoded);
}
