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
  /** What may still match, and comes before what was found: the first one began first. */
  #threads: ThreadList;
  /** Those after the character that is read. */
  #moved: ThreadList;

  constructor(program: PatternProgram) {
    this.#program = program;
    this.#stepper = new Stepper(program);
    this.#threads = new ThreadList(program.instructions.length);
    this.#moved = new ThreadList(program.instructions.length);
  }

  find(text: string, range: SearchedRange): Match | undefined {
    let match: Match | undefined;
    this.#read(text, range, (found) => {
      match = found;
      // Whichever of them matches in the end, it begins there; where it ends is known.
      const isKnown = found !== undefined && this.#threads.allBeganAt(found.start);
      if (isKnown) match = { start: found.start, end: range.to };
      return isKnown;
    });
    return match;
  }

  /** Where the first match begins that was found or may still be, of a text that was read up to `to`. */
  earliest(text: string, range: SearchedRange): number {
    let earliest = range.to;
    this.#read(text, { ...range, to: range.to - 1 }, (found) => {
      const first = this.#threads.count > 0 ? this.#threads.startOf(0) : found?.start;
      earliest = first ?? range.to;
      return false;
    });
    return earliest;
  }

  /** `isEnough`: whether what is known after a character is enough; `found`: the match that comes first so far. */
  #read(
    text: string,
    { from, before: initial, to }: SearchedRange,
    isEnough: (found: Match | undefined) => boolean,
  ): void {
    let found: Match | undefined;
    let before = initial;
    let start = from;
    const move = (place: number): void => this.#moved.add(place, start);
    this.#threads.clear();
    for (let at = from; at <= to; ) {
      const codePoint = text.codePointAt(at) ?? textEnd;
      const threads = this.#threads;
      const moved = this.#moved;
      moved.clear();
      this.#stepper.begin();
      if (found === undefined) threads.add(this.#program.start, at);
      for (let each = 0; each < threads.count; each++) {
        start = threads.startOf(each);
        if (this.#stepper.step(threads.placeOf(each), before, codePoint, move)) {
          found = { start, end: at };
          break;
        }
      }
      this.#threads = moved;
      this.#moved = threads;
      if (isEnough(found) || codePoint === textEnd) return;
      if (moved.count === 0 && found !== undefined) return;
      before = beforeOf(codePoint, this.#program);
      at += codePoint > 0xffff ? 2 : 1;
    }
  }
}

/** Threads in order of their priority, one at each place of a program. */
class ThreadList {
  count = 0;
  readonly #places: Int32Array;
  readonly #starts: Int32Array;
  /** By place: the round in which it was added last. */
  readonly #added: Uint32Array;
  #round = 1;

  /** `size`: of the program. */
  constructor(size: number) {
    this.#places = new Int32Array(size);
    this.#starts = new Int32Array(size);
    this.#added = new Uint32Array(size);
  }

  clear(): void {
    this.count = 0;
    this.#round += 1;
  }

  /** `start`: where it began. At each place the first one counts. */
  add(place: number, start: number): void {
    if (this.#added[place] === this.#round) return;
    this.#added[place] = this.#round;
    this.#places[this.count] = place;
    this.#starts[this.count] = start;
    this.count += 1;
  }

  placeOf(index: number): number {
    return this.#places[index] ?? 0;
  }

  startOf(index: number): number {
    return this.#starts[index] ?? 0;
  }

  allBeganAt(start: number): boolean {
    for (let each = 0; each < this.count; each++) {
      if (this.#starts[each] !== start) return false;
    }
    return true;
  }
}
