/** Whether a text is a name (RFC 9110 5.6.2), as fields and methods have one. */
export function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (isTokenCode[text.charCodeAt(i)] !== 1) return false;
  return text !== "";
}

/** Whether a text can be the value of a field (RFC 9110 5.5): no line break, no other control. */
export function isFieldValue(text: string): boolean {
  return !noFieldValue.test(text);
}

/** Lines that were read, as text and as the bytes that it was made of: bytes are quicker to look through, text to cut. */
export interface Http1Lines {
  /** Latin-1, without the empty line behind them. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** Where the text begins among the bytes. */
  readonly start: number;
}

/** Reads fields, each on a line, from a place in the text on, as a flat list; a string is what is wrong. */
export function readHttp1Fields(
  { text, bytes, start }: Http1Lines,
  from: number,
): string[] | string {
  const fields: string[] = [];
  const end = start + text.length;
  for (let at = start + from; at < end; ) {
    let colon = at;
    while (isTokenCode[bytes[colon] ?? 0] === 1) colon++;
    if (colon === at || bytes[colon] !== 0x3a) return "a field without a valid name";
    let value = colon + 1;
    while (isBlank(bytes[value])) value++;
    // RFC 9110 5.5: blanks behind a value are none of it.
    let valueEnd = value;
    let lineEnd = value;
    for (; lineEnd < end; lineEnd++) {
      const code = bytes[lineEnd] ?? 0;
      if (code > 0x20 && code !== 0x7f) valueEnd = lineEnd + 1;
      else if (!isBlank(code)) break;
    }
    const isLine = lineEnd === end || (bytes[lineEnd] === 13 && bytes[lineEnd + 1] === 10);
    if (!isLine) return "a character that no field has";
    fields.push(text.slice(at - start, colon - start), text.slice(value - start, valueEnd - start));
    at = lineEnd + 2;
  }
  return fields;
}

/** Where a line of a head ends, its line break not included. */
export function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\r\n", at);
  return end < 0 ? text.length : end;
}

/** RFC 9110 5.6.3: optional white space is spaces and tabs. */
function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === 0x09;
}

const token = /^[\w!#$%&'*+\-.^`|~]+$/;
const noFieldValue = /[^\t\x20-\x7e\x80-\xff]/;

/** 1 for the codes of Latin-1 that a token is made of. */
const isTokenCode = Uint8Array.from({ length: 256 }, (_, code) =>
  token.test(String.fromCharCode(code)) ? 1 : 0,
);
