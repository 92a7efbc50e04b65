/** Names of characters in the Unicode Character Database. */
declare module "unicode-name" {
  /** The name of a character; undefined: it has none. */
  export function unicodeName(character: string): string | undefined;
}
