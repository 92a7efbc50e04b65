/** Returns `misplacedFieldHints` with the same hint for several words. */
export function hintFor(hint: string, words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(words.map((word) => [word, hint]));
}
