import { AMBIGUOUS_UNITS } from "./ambiguous-character.ts";
import { BEYOND_ASCII, escapedUnit } from "./match-ends.ts";
import { beginsBeyondAscii } from "./pattern-program.ts";
import { characterReader } from "./reading.ts";
import type { Search } from "./search.ts";

/** Characters that matches of several searches may start with. A text without any of them is searched once for all. */
export class SharedBeginnings {
  readonly #searches: ReadonlySet<Search>;
  /** `undefined` if there are fewer than two searches. */
  readonly #any: RegExp | undefined;

  constructor(searches: readonly Search[]) {
    // Searches with a required character look for that one instead, as few texts contain it.
    const shared = searches.filter(
      ({ reader, required, needsBeginning }) =>
        reader === characterReader && required.length === 0 && needsBeginning,
    );
    this.#searches = new Set(shared);
    this.#any = shared.length > 1 ? anyOf(shared) : undefined;
  }

  /** Whether a search is included. */
  has(search: Search): boolean {
    return this.#searches.has(search);
  }

  /** Whether a whole text, in its reading, has no character that one of their matches may start with. */
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
