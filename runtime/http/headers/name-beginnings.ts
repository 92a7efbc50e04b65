/**
 * Some header names, lower case, by their lengths and first letters: most other names are known to be none of them by that
 * alone, and nobody has to lower their case.
 */
export class NameBeginnings {
  /** By length. */
  readonly #letters: readonly string[];

  constructor(names: Iterable<string>) {
    const all = [...names];
    const longest = Math.max(...all.map((name) => name.length));
    this.#letters = Array.from({ length: longest + 1 }, (_, length) =>
      String.fromCharCode(
        ...all.flatMap((name) => (name.length === length ? [name.charCodeAt(0) | 0x20] : [])),
      ),
    );
  }

  /** Whether a name as it was sent may be one of them. */
  mayHave(length: number, first: number): boolean {
    const letters = this.#letters[length];
    if (letters === undefined) return false;
    const letter = first | 0x20;
    for (let i = 0; i < letters.length; i++) if (letters.charCodeAt(i) === letter) return true;
    return false;
  }
}
