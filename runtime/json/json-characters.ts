// Character codes of JSON's structure (RFC 8259 2, 7) and of digits. They are separate constants so that bundles inline the
// numbers.

/** `"` */
export const QUOTE = 0x22;
/** `\` */
export const BACKSLASH = 0x5c;
/** `,` */
export const COMMA = 0x2c;
/** `:` */
export const COLON = 0x3a;
/** `{` */
export const OPEN_BRACE = 0x7b;
/** `}` */
export const CLOSE_BRACE = 0x7d;
/** `[` */
export const OPEN_BRACKET = 0x5b;
/** `]` */
export const CLOSE_BRACKET = 0x5d;
/** `0` */
export const ZERO = 0x30;
/** `9` */
export const NINE = 0x39;
