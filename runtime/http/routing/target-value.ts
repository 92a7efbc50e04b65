/**
 * The value of an expression as a request target in origin form; undefined for what is none: dot segments, spaces,
 * control characters and `#` could be read as another path (RFC 9112 3.2.1). Other characters are percent-encoded.
 */
export function targetValue(value: unknown): string | undefined {
  if (typeof value !== "string" || !value.startsWith("/")) return undefined;
  if (/[\u0000-\u0020\u007f#\\]/.test(value)) return undefined;
  const path = value.split("?", 1)[0] ?? "";
  if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) return undefined;
  return value.replace(/[^\u0021-\u007e]+/gu, (text) =>
    Array.from(Buffer.from(text, "utf8"), (byte) => `%${byte.toString(16).toUpperCase()}`).join(""),
  );
}
