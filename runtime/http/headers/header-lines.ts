import { NameBeginnings } from "./name-beginnings.ts";

/** Header names, lower case, that are looked for among lines. */
export class HeaderNames {
  readonly #names: ReadonlySet<string>;
  readonly #beginnings: NameBeginnings;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
    this.#beginnings = new NameBeginnings(this.#names);
  }

  /** Whether the line from `at` on, whose name ends at `colon`, is of one of them. */
  hasLine(lines: string, at: number, colon: number): boolean {
    if (!this.#beginnings.mayHave(colon - at, lines.charCodeAt(at))) return false;
    return this.#names.has(lines.slice(at, colon).toLowerCase());
  }
}

/** Lines of headers, each as `name: value` with its line break, without those of these names; the same text when it has none. */
export function withoutLines(lines: string, names: HeaderNames): string {
  let kept = "";
  let keptTo = 0;
  for (let at = 0; at < lines.length; ) {
    const next = lines.indexOf("\r\n", at) + 2;
    if (names.hasLine(lines, at, lines.indexOf(":", at))) {
      kept += lines.slice(keptTo, at);
      keptTo = next;
    }
    at = next;
  }
  return keptTo === 0 ? lines : kept + lines.slice(keptTo);
}
