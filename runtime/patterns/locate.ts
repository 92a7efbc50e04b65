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

  find(text: string, range: SearchedRange): Match | undefined {
    let match: Match | undefined;
    for (const { found, threads } of this.#read(text, range)) {
      match = found;
      const begun = found?.start;
      // Whichever of them matches in the end, it begins there; where it ends is known.
      if (begun !== undefined && threads.every(({ start }) => start === begun)) {
        return { start: begun, end: range.to };
      }
    }
    return match;
  }

  /** Where the first match begins that was found or may still be, of a text that was read up to `to`. */
  earliest(text: string, range: SearchedRange): number {
    let earliest = range.to;
    for (const { found, threads } of this.#read(text, { ...range, to: range.to - 1 })) {
      earliest = threads[0]?.start ?? found?.start ?? range.to;
    }
    return earliest;
  }

  /** What is known after each character. */
  *#read(text: string, { from, before: initial, to }: SearchedRange): Generator<Reading> {
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
      yield { found, threads: moved };
      if (codePoint === textEnd || (moved.length === 0 && found !== undefined)) return;
      threads = moved;
      before = beforeOf(codePoint, this.#program);
      at += codePoint > 0xffff ? 2 : 1;
    }
  }
}

interface Thread {
  readonly place: number;
  readonly start: number;
}

interface Reading {
  readonly found: Match | undefined;
  /** What may still match, and comes before what was found: the first one began first. */
  readonly threads: readonly Thread[];
}
