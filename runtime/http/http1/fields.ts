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
  const fields: string[] = [];
  const { length } = text;
  for (let at = start; at < length; ) {
    let colon = at;
    while (isTokenCode[text.charCodeAt(colon)] === 1) colon++;
    if (colon === at || text.charCodeAt(colon) !== 0x3a) return "a field without a valid name";
    const from = behindBlanks(text, colon + 1);
    // RFC 9110 5.5: blanks behind a value are none of it.
    let to = from;
    let end = from;
    for (; ; end++) {
      const code = text.charCodeAt(end);
      if (code > 0x20 && code !== 0x7f) to = end + 1;
      else if (!isBlank(code)) break;
    }
    if (end < length && !text.startsWith("\r\n", end)) return "a character that no field has";
    fields.push(text.slice(at, colon), text.slice(from, to));
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
function behindBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text.charCodeAt(at))) at++;
  return at;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

const token = /^[\w!#$%&'*+\-.^`|~]+$/;
const noFieldValue = /[^\t\x20-\x7e\x80-\xff]/;

/** 1 for the codes of Latin-1 that a token is made of. */
const isTokenCode = Uint8Array.from({ length: 256 }, (_, code) =>
  token.test(String.fromCharCode(code)) ? 1 : 0,
);
