import { AMBIGUOUS_UNITS } from "./ambiguous-character.ts";
import { BEYOND_ASCII, escapedUnit } from "./match-ends.ts";
import { beginsBeyondAscii } from "./pattern-program.ts";
import { characterReader } from "./reading.ts";
import type { Search } from "./search.ts";

/** What matches of several searches may begin with: a text without any of it is looked through once for all of them. */
export class SharedBeginnings {
  readonly #searches: ReadonlySet<Search>;
  /** Undefined: there are not several. */
  readonly #any: RegExp | undefined;

  constructor(searches: readonly Search[]) {
    // A character that a match can't be without is looked for instead: mostly few texts have it.
    const shared = searches.filter(
      ({ reader, required, needsBeginning }) =>
        reader === characterReader && required.length === 0 && needsBeginning,
    );
    this.#searches = new Set(shared);
    this.#any = shared.length > 1 ? anyOf(shared) : undefined;
  }

  /** Whether it knows of a search what its matches begin with. */
  has(search: Search): boolean {
    return this.#searches.has(search);
  }

  /** Whether a whole text, as it reads, has nothing that one of their matches may begin with. */
  areMissingIn(text: string): boolean {
    return this.#any?.test(text) === false;
  }
}

function anyOf(searches: readonly Search[]): RegExp {
  const units = Array.from({ length: 128 }, (_, unit) =>
    searches.some(({ leavesIdle }) => leavesIdle[unit] === 1) ? escapedUnit(unit) : "",
  );
  const others = searches.some(({ program }) => beginsBeyondAscii(program));
  return new RegExp(`[${units.join("")}${others ? BEYOND_ASCII : AMBIGUOUS_UNITS}]`);
}
