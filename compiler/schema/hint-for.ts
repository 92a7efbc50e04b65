/** The same hint for several words that people write (`misplacedFieldHints`). */
export function hintFor(hint: string, words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(words.map((word) => [word, hint]));
}
