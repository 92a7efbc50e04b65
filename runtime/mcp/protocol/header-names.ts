/**
 * The value of a header as the body has it (MCP 2026-07-28, transports): what is not visible ASCII travels as
 * `=?base64?...?=`. Undefined: it is not written in the one form that it has.
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

/** A name or URI as a header carries it. */
export function encodeHeader(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
  if (isPlain && !(text.startsWith(OPENING) && text.endsWith(CLOSING))) return text;
  return `${OPENING}${Buffer.from(text, "utf8").toString("base64")}${CLOSING}`;
}

const OPENING = "=?base64?";
const CLOSING = "?=";
