/**
 * Header names (lower case) by length and first letter. Most other names are ruled out by these alone, without lowering their
 * case.
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

  /** Whether a name as received may be one of them. */
  mayHave(length: number, first: number): boolean {
    const letters = this.#letters[length];
    if (letters === undefined) return false;
    const letter = first | 0x20;
    for (let i = 0; i < letters.length; i++) if (letters.charCodeAt(i) === letter) return true;
    return false;
  }
}

/** Header names (lower case) to search for among lines. */
export class HeaderNames {
  readonly #names: ReadonlySet<string>;
  readonly #beginnings: NameBeginnings;
  readonly #prefixes: RegExp | undefined;

  /** `prefixes`: prefixes of further names, in any case; none if absent. */
  constructor(names: Iterable<string>, prefixes?: readonly string[]) {
    this.#names = new Set(names);
    this.#beginnings = new NameBeginnings(this.#names);
    this.#prefixes = prefixes && new RegExp(`(?:${prefixes.join("|")})`, "iy");
  }

  /**
   * Returns the name (lower case) of the line that starts at `at` and whose name ends at `colon`; `undefined` if it is not one
   * of these names.
   */
  nameAt(lines: string, at: number, colon: number): string | undefined {
    if (this.#beginnings.mayHave(colon - at, lines.charCodeAt(at))) {
      const name = lines.slice(at, colon).toLowerCase();
      if (this.#names.has(name)) return name;
    }
    return this.#hasPrefix(lines, at) ? lines.slice(at, colon).toLowerCase() : undefined;
  }

  #hasPrefix(lines: string, at: number): boolean {
    if (this.#prefixes === undefined) return false;
    this.#prefixes.lastIndex = at;
    return this.#prefixes.test(lines);
  }
}

/**
 * Removes headers of these names from lines of the form `name: value` with their line breaks. Returns the same string if it has
 * no such header.
 */
export function withoutLines(lines: string, names: HeaderNames): string {
  let kept = "";
  let keptTo = 0;
  for (let at = 0; at < lines.length; ) {
    const next = lines.indexOf("\r\n", at) + 2;
    if (names.nameAt(lines, at, lines.indexOf(":", at)) !== undefined) {
      kept += lines.slice(keptTo, at);
      keptTo = next;
    }
    at = next;
  }
  return keptTo === 0 ? lines : kept + lines.slice(keptTo);
}

/**
 * Removes headers of these names except a single line. Returns `undefined` if no line has the names, or several do, of which
 * servers might read different ones.
 */
export function withoutOtherLines(
  lines: string,
  names: HeaderNames,
  wanted: string,
): string | undefined {
  let kept = "";
  let keptTo = 0;
  let hasWanted = false;
  for (let at = 0; at < lines.length; ) {
    const next = lines.indexOf("\r\n", at) + 2;
    const name = names.nameAt(lines, at, lines.indexOf(":", at));
    if (name === wanted) {
      if (hasWanted) return undefined;
      hasWanted = true;
    } else if (name !== undefined) {
      kept += lines.slice(keptTo, at);
      keptTo = next;
    }
    at = next;
  }
  return hasWanted ? kept + lines.slice(keptTo) : undefined;
}
