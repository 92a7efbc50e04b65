// The codes of the characters that JSON's structure is made of (RFC 8259 2, 7), and of digits. Bundles have the numbers in
// the place of these names, as each is a constant of its own.

/** `"` */
export const quote = 0x22;
/** `\` */
export const backslash = 0x5c;
/** `,` */
export const comma = 0x2c;
/** `:` */
export const colon = 0x3a;
/** `{` */
export const openBrace = 0x7b;
/** `}` */
export const closeBrace = 0x7d;
/** `[` */
export const openBracket = 0x5b;
/** `]` */
export const closeBracket = 0x5d;
/** `0` */
export const zero = 0x30;
/** `9` */
export const nine = 0x39;
