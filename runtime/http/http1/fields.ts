/** Whether a text is a name (RFC 9110 5.6.2), as fields and methods have one. */
export function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (isTokenCode[text.charCodeAt(i)] !== 1) return false;
  return text !== "";
}

/** Whether a text can be the value of a field (RFC 9110 5.5): no line break, no other control. */
export function isFieldValue(text: string): boolean {
  return !NO_FIELD_VALUE.test(text);
}

/** Lines that were read, as text and as the bytes that it was made of: bytes are quicker to look through, text to cut. */
export interface Http1Lines {
  /** Latin-1. Of a head each line ends with its line break, and the empty line behind them is not in it. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** Where the text begins among the bytes. */
  readonly start: number;
}

/** RFC 9110 5.6.3: optional white space is spaces and tabs. */
export function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === 0x09;
}

const TOKEN = /^[\w!#$%&'*+\-.^`|~]+$/;
const NO_FIELD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** 1 for the codes of Latin-1 that a token is made of. */
export const isTokenCode: Uint8Array = codesOf((character) => TOKEN.test(character));

/** 1 for those that the value of a field is made of, blanks included. */
export const isValueCode: Uint8Array = codesOf(isFieldValue);

function codesOf(isOne: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (isOne(String.fromCharCode(code)) ? 1 : 0));
}
