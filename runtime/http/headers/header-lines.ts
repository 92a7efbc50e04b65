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

/** Header names, lower case, that are looked for among lines. */
export class HeaderNames {
  readonly #names: ReadonlySet<string>;
  readonly #beginnings: NameBeginnings;
  readonly #prefixes: RegExp | undefined;

  /** `prefixes`: what further names begin with, whatever their case; absent: there are none. */
  constructor(names: Iterable<string>, prefixes?: readonly string[]) {
    this.#names = new Set(names);
    this.#beginnings = new NameBeginnings(this.#names);
    this.#prefixes = prefixes && new RegExp(`(?:${prefixes.join("|")})`, "iy");
  }

  /** The name, lower case, of the line from `at` on, which ends at `colon`; undefined: it is none of them. */
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

/** Lines of headers, each as `name: value` with its line break, without those of these names; the same text when it has none. */
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
 * The same, but the line of one of these names stays as it came; undefined: there is none of that name, or there are several,
 * of which servers might not read the same one.
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
