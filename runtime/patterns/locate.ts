import type { SearchedRange } from "./automaton.ts";
import { beforeOf, type PatternProgram, Stepper, textEnd } from "./pattern-program.ts";

/** A match: `text.slice(start, end)`. */
export interface Match {
  readonly start: number;
  readonly end: number;
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
      const begun = found?.start;
      // Whichever of them matches in the end, it begins there; where it ends is known.
      if (begun !== undefined && moved.every(({ start }) => start === begun)) {
        return { start: begun, end: to };
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
