import { type Before, beforeOf, type PatternProgram, Stepper, textEnd } from "./pattern-program.ts";

/** A match: `text.slice(start, end)`. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/** Where a text is looked at. */
export interface SearchedRange {
  /** Matches begin here or after it. */
  readonly from: number;
  /** What stands before `from`. */
  readonly before: Before;
  /** The match ends here, as an automaton found. */
  readonly to: number;
}

/** Finds the first match of a text, by threads that know where they began. Of matches that begin there the pattern prefers one, as RE2 does. */
export class Locator {
  readonly #program: PatternProgram;
  readonly #stepper: Stepper;

  constructor(program: PatternProgram) {
    this.#program = program;
    this.#stepper = new Stepper(program);
  }

  find(text: string, { from, before: initial, to }: SearchedRange): Match | undefined {
    let threads: Thread[] = [];
    let found: Match | undefined;
    let before = initial;
    for (let at = from; at <= to; ) {
      const codePoint = text.codePointAt(at) ?? textEnd;
      const moved: Thread[] = [];
      this.#stepper.begin();
      const all =
        found === undefined ? [...threads, { place: this.#program.start, start: at }] : threads;
      for (const { place, start } of all) {
        const add = (next: number): void => {
          if (!moved.some((each) => each.place === next)) moved.push({ place: next, start });
        };
        if (this.#stepper.step(place, before, codePoint, add)) {
          found = { start, end: at };
          break;
        }
      }
      if (codePoint === textEnd || (moved.length === 0 && found !== undefined)) break;
      const [first] = moved;
      // No later one can begin: they are all of one match, which is known to end where the text is looked at.
      if (found !== undefined && moved.every(({ start }) => start === first?.start)) {
        return { start: first?.start ?? found.start, end: to };
      }
      threads = moved;
      before = beforeOf(codePoint, this.#program);
      at += codePoint > 0xffff ? 2 : 1;
    }
    return found;
  }
}

interface Thread {
  readonly place: number;
  readonly start: number;
}
