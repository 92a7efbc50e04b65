/** Names of characters in the Unicode Character Database. */
declare module "unicode-name" {
  /** Returns the name of a character; `undefined` if it has none. */
  export function unicodeName(character: string): string | undefined;
}
