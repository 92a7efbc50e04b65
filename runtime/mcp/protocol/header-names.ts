/**
 * Decodes a header value (MCP 2026-07-28, transports). Values that are not visible ASCII travel as `=?base64?...?=`.
 * Returns `undefined` if that form is malformed or not canonical.
 */
export function decodeHeader(value: string): string | undefined {
  if (!value.startsWith(OPENING) || !value.endsWith(CLOSING)) return value;
  if (value.length < OPENING.length + CLOSING.length) return undefined;
  const coded = value.slice(OPENING.length, -CLOSING.length);
  const bytes = Buffer.from(coded, "base64");
  if (bytes.length === 0 || bytes.toString("base64") !== coded) return undefined;
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : undefined;
}

/** Encodes a name or URI as a header value. */
export function encodeHeader(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
  if (isPlain && !(text.startsWith(OPENING) && text.endsWith(CLOSING))) return text;
  return `${OPENING}${Buffer.from(text, "utf8").toString("base64")}${CLOSING}`;
}

const OPENING = "=?base64?";
const CLOSING = "?=";
