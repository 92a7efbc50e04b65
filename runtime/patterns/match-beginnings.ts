import { isOptional, optionalCharacter } from "./ambiguous-character.ts";
import {
  ALTERNATIVE,
  ALTERNATIVE_MATCH,
  assertion,
  DEAD_END,
  match,
  RUNE,
} from "./pattern-codes.ts";
import {
  ANY_CHARACTER,
  assertionsAt,
  type Beside,
  beforeOf,
  besides,
  LINE_FEED,
  NO_TEXT,
  type PatternProgram,
  TEXT_END,
  takes,
  WORD_CHARACTER,
} from "./pattern-program.ts";
import { STATE_BITS, StateTable } from "./state-table.ts";

/**
 * Finds where a match begins whose end is known: an automaton that reads backward, from the end to the earliest place from
 * which the pattern comes to it. Of the matches that end there the one that begins first is what RE2 finds.
 */
export class MatchBeginnings {
  readonly #program: PatternProgram;
  readonly #table = new StateTable<Ways>(() => this.#ends.fill(0));
  /** By what stands behind it: the state at the end of a match. */
  readonly #ends = new Int32Array(besides);
  /** By place: places that lead there without a character, and those that take one. */
  readonly #sources: readonly Sources[];
  readonly #matches: readonly number[];

  constructor(program: PatternProgram) {
    const { instructions } = program;
    this.#program = program;
    this.#matches = instructions.flatMap(({ op }, place) => (op === match ? [place] : []));
    const sources = instructions.map((): Sources => ({ bare: [], taking: [] }));
    for (const [place, { op, out, arg }] of instructions.entries()) {
      if (op === match || op === DEAD_END) continue;
      sources[out]?.[op >= RUNE ? "taking" : "bare"].push(place);
      if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) sources[arg]?.bare.push(place);
    }
    this.#sources = sources;
  }

  /** The earliest place from `from` on where a match begins that ends at `to`; undefined: none does. `before`: beside `from`. */
  ofEnded(text: string, from: number, before: Beside, to: number): number | undefined {
    const after = this.#program.asks ? this.#besideOf(text.codePointAt(to) ?? TEXT_END) : NO_TEXT;
    return this.#earliest(text, from, before, to, this.#ended(after));
  }

  /** The same of a thread that came to a place of the program, behind the character before `to`. */
  ofThread(
    text: string,
    from: number,
    before: Beside,
    to: number,
    place: number,
  ): number | undefined {
    const codePoint = codePointBefore(text, to);
    const places = this.#passing([place], codePoint);
    const state = this.#number({ places, after: this.#besideOf(codePoint) }, false);
    return this.#earliest(text, from, before, to - sizeOf(codePoint), state);
  }

  /** The state at the end of a match. */
  #ended(after: Beside): number {
    const known = this.#ends[after];
    if (known) return known;
    const made = this.#number({ places: this.#matches, after }, false);
    this.#ends[after] = made;
    return made;
  }

  /** `initial`: the state at `to`. */
  #earliest(
    text: string,
    from: number,
    before: Beside,
    to: number,
    initial: number,
  ): number | undefined {
    let earliest: number | undefined;
    let state = initial;
    for (let at = to; at >= from && (state & DEAD) === 0; ) {
      // Whether one begins at a place is known when what stands before it is.
      const unit = at > from ? text.charCodeAt(at - 1) : sampleOf(before);
      const isAscii = unit >= 0 && unit < 128;
      const known = isAscii ? (this.#table.ascii[(state >> STATE_BITS) * 128 + unit] ?? 0) : 0;
      const codePoint = isAscii || at <= from ? unit : codePointBefore(text, at);
      state = known === 0 ? this.#table.next(state, codePoint, this.#step) : known;
      if ((state & BEGINS) !== 0) earliest = at;
      at -= sizeOf(codePoint);
    }
    return earliest;
  }

  readonly #step = (state: number, codePoint: number): number => {
    const { places, after } = this.#table.stateOf(state);
    const before = codePoint === TEXT_END ? NO_TEXT : beforeOf(codePoint, this.#program);
    const reached = new Set(places);
    this.#addBare(reached, assertionsAt(before, sampleOf(after)));
    const taking = codePoint === TEXT_END ? [] : this.#passing(reached, codePoint);
    const ways = { places: taking, after: this.#besideOf(codePoint) };
    return this.#number(ways, reached.has(this.#program.start));
  };

  /** Places that lead to these ones over a code point; these ones as well, if it may be nothing. */
  #passing(places: Iterable<number>, codePoint: number): readonly number[] {
    const taking = new Set<number>(isOptional(codePoint) ? places : []);
    for (const place of places) {
      for (const source of this.#sources[place]?.taking ?? []) {
        const instruction = this.#program.instructions[source];
        if (instruction !== undefined && takes(instruction, codePoint)) taking.add(source);
      }
    }
    return [...taking].sort((a, b) => a - b);
  }

  /** Adds places that lead to those without a character, where these assertions hold. */
  #addBare(reached: Set<number>, holding: number): void {
    for (const place of reached) {
      for (const source of this.#sources[place]?.bare ?? []) {
        const { op = DEAD_END, arg = 0 } = this.#program.instructions[source] ?? {};
        if (op !== assertion || (arg & ~holding) === 0) reached.add(source);
      }
    }
  }

  #number(ways: Ways, hasBegun: boolean): number {
    const { places, after } = ways;
    const bits = (hasBegun ? BEGINS : 0) | (places.length === 0 ? DEAD : 0);
    return this.#table.numberOf(`${places.join()} ${after} ${hasBegun}`, ways, bits);
  }

  /** What stands behind a place with this code point; one for all if nothing asks. */
  #besideOf(codePoint: number): Beside {
    if (!this.#program.asks || codePoint === TEXT_END) return NO_TEXT;
    return codePoint === NEW_LINE ? LINE_FEED : beforeOf(codePoint, this.#program);
  }
}

/** Ways to the end of a match from a place of a text. */
interface Ways {
  /** They go through these places, one character after the other. */
  readonly places: readonly number[];
  /** What comes next, as far as assertions ask. */
  readonly after: Beside;
}

/** Places that lead to another one. */
interface Sources {
  readonly bare: number[];
  readonly taking: number[];
}

function codePointBefore(text: string, at: number): number {
  const pair = at > 1 ? (text.codePointAt(at - 2) ?? 0) : 0;
  return pair > 0xffff ? pair : text.charCodeAt(at - 1);
}

function sizeOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1;
}

/** A code point that is for assertions what stands there. */
function sampleOf(beside: Beside): number {
  if (beside === NO_TEXT) return TEXT_END;
  if (beside === LINE_FEED) return NEW_LINE;
  if (beside === ANY_CHARACTER) return optionalLetter;
  return beside === WORD_CHARACTER ? LETTER : SPACE;
}

const NEW_LINE = 0x0a;
const LETTER = 0x61;
const optionalLetter = optionalCharacter(LETTER).charCodeAt(0);
const SPACE = 0x20;

/** A match begins behind the character that was read last. */
const BEGINS = 1;
/** None begins before it. */
const DEAD = 2;
