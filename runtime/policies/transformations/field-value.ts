import { fieldText } from "../../cel/values/field-text.ts";

/**
 * Converts the value of an expression to a header value (RFC 9110 5.5). Returns `undefined` without a value, or if it
 * contains CR, LF, NUL or another control character, which could end the header. Characters beyond Latin-1 are sent as
 * UTF-8 bytes.
 */
export function fieldValue(value: unknown): string | undefined {
  const text = fieldText(value);
  if (text === undefined || CONTROLS.test(text)) return undefined;
  const bytes = BEYOND_LATIN1.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
  return bytes.replace(/^[ \t]+|[ \t]+$/g, "");
}

const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const BEYOND_LATIN1 = /[^\u0000-\u00ff]/;
