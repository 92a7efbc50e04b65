/** Whether a text is a name (RFC 9110 5.6.2), as fields and methods have one. */
export function isToken(text: string): boolean {
  return token.test(text);
}

/** Whether a text can be the value of a field (RFC 9110 5.5): no line break, no other control. */
export function isFieldValue(text: string): boolean {
  return !noFieldValue.test(text);
}

/** Reads fields, each on a line, as a flat list; a string is what is wrong. */
export function readHttp1Fields(text: string, start: number): string[] | string {
  if (forbidden.test(text)) return "a character that no field has";
  const fields: string[] = [];
  for (let at = start; at < text.length; ) {
    const end = endOfLine(text, at);
    const colon = text.indexOf(":", at);
    if (colon < 0 || colon > end) return "a line that is no field";
    const name = text.slice(at, colon);
    if (!token.test(name)) return "a field without a valid name";
    fields.push(name, trimmed(text, colon + 1, end));
    at = end + 2;
  }
  return fields;
}

/** Where a line of a head ends, its line break not included. */
export function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\r\n", at);
  return end < 0 ? text.length : end;
}

/** RFC 9110 5.6.3: optional white space is spaces and tabs. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Controls, and line breaks that are not CRLF. */
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;

const token = /^[\w!#$%&'*+\-.^`|~]+$/;
const noFieldValue = /[^\t\x20-\x7e\x80-\xff]/;
