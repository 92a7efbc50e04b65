import { isOptional, optionalCharacter } from "./ambiguous-character.ts";
import {
  ALTERNATIVE,
  ALTERNATIVE_MATCH,
  ASSERTION,
  DEAD_END,
  MATCH,
  RUNE,
} from "./pattern-codes.ts";
import {
  ANY_CHARACTER,
  assertionsAt,
  beforeOf,
  LINE_FEED,
  NEIGHBOR_KINDS,
  type Neighbor,
  NO_TEXT,
  type PatternProgram,
  TEXT_END,
  takes,
  WORD_CHARACTER,
} from "./pattern-program.ts";
import { STATE_BITS, StateTable } from "./state-table.ts";

/**
 * Finds the start of a match whose end is known, with an automaton that reads backward from the end to the earliest possible
 * start. Of all matches that end there, RE2 finds the one that starts first.
 */
export class MatchBeginnings {
  readonly #program: PatternProgram;
  readonly #table = new StateTable<Ways>(() => this.#ends.fill(0));
  /** By the following neighbor: the state at the end of a match. */
  readonly #ends = new Int32Array(NEIGHBOR_KINDS);
  /** By place: places that lead there without a character, and those that consume one. */
  readonly #sources: readonly Sources[];
  readonly #matches: readonly number[];

  constructor(program: PatternProgram) {
    const { instructions } = program;
    this.#program = program;
    this.#matches = instructions.flatMap(({ op }, place) => (op === MATCH ? [place] : []));
    const sources = instructions.map((): Sources => ({ bare: [], taking: [] }));
    for (const [place, { op, out, arg }] of instructions.entries()) {
      if (op === MATCH || op === DEAD_END) continue;
      sources[out]?.[op >= RUNE ? "taking" : "bare"].push(place);
      if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) sources[arg]?.bare.push(place);
    }
    this.#sources = sources;
  }

  /**
   * Returns the earliest start from `from` on of a match that ends at `to`; `undefined` if no match does. `before` is the
   * neighbor before `from`.
   */
  ofEnded(text: string, from: number, before: Neighbor, to: number): number | undefined {
    const after = this.#program.hasAssertions
      ? this.#neighborOf(text.codePointAt(to) ?? TEXT_END)
      : NO_TEXT;
    return this.#earliest(text, from, before, to, this.#ended(after));
  }

  /** Returns the same for a thread that reached a place of the program, after the character before `to`. */
  ofThread(
    text: string,
    from: number,
    before: Neighbor,
    to: number,
    place: number,
  ): number | undefined {
    const codePoint = codePointBefore(text, to);
    const places = this.#passing([place], codePoint);
    const state = this.#number({ places, after: this.#neighborOf(codePoint) }, false);
    return this.#earliest(text, from, before, to - sizeOf(codePoint), state);
  }

  /** Returns the state at the end of a match. */
  #ended(after: Neighbor): number {
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
    before: Neighbor,
    to: number,
    initial: number,
  ): number | undefined {
    let earliest: number | undefined;
    let state = initial;
    for (let at = to; at >= from && (state & DEAD) === 0; ) {
      // Whether a match starts at a place also depends on what precedes it.
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
    const ways = { places: taking, after: this.#neighborOf(codePoint) };
    return this.#number(ways, reached.has(this.#program.start));
  };

  /** Returns the places that lead to these over a code point, including these themselves if it may be read as nothing. */
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
        if (op !== ASSERTION || (arg & ~holding) === 0) reached.add(source);
      }
    }
  }

  #number(ways: Ways, hasBegun: boolean): number {
    const { places, after } = ways;
    const bits = (hasBegun ? BEGINS : 0) | (places.length === 0 ? DEAD : 0);
    return this.#table.numberOf(`${places.join()} ${after} ${hasBegun}`, ways, bits);
  }

  /** Returns the neighbor after a place with this code point; the same for all if there are no assertions. */
  #neighborOf(codePoint: number): Neighbor {
    if (!this.#program.hasAssertions || codePoint === TEXT_END) return NO_TEXT;
    return codePoint === NEW_LINE ? LINE_FEED : beforeOf(codePoint, this.#program);
  }
}

/** Ways from a place of a text to the end of a match. */
interface Ways {
  /** Program places that they pass, one character after the other. */
  readonly places: readonly number[];
  /** Following neighbor, as far as assertions need it. */
  readonly after: Neighbor;
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

/** Returns a code point that assertions treat like this neighbor. */
function sampleOf(neighbor: Neighbor): number {
  if (neighbor === NO_TEXT) return TEXT_END;
  if (neighbor === LINE_FEED) return NEW_LINE;
  if (neighbor === ANY_CHARACTER) return OPTIONAL_LETTER;
  return neighbor === WORD_CHARACTER ? LETTER : SPACE;
}

const NEW_LINE = 0x0a;
const LETTER = 0x61;
const OPTIONAL_LETTER = optionalCharacter(LETTER).charCodeAt(0);
const SPACE = 0x20;

/** Bit of states: a match starts after the character that was read last. */
const BEGINS = 1;
/** Bit of states: no match starts before it. */
const DEAD = 2;
