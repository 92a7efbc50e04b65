import { isOptional, optionalCharacter } from "./ambiguous-character.ts";
import { alternative, alternativeMatch, assertion, deadEnd, match, rune } from "./pattern-codes.ts";
import {
  anyCharacter,
  assertionsAt,
  type Beside,
  beforeOf,
  besides,
  lineFeed,
  noText,
  type PatternProgram,
  takes,
  textEnd,
  wordCharacter,
} from "./pattern-program.ts";
import { StateTable, stateBits } from "./state-table.ts";

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
      if (op === match || op === deadEnd) continue;
      sources[out]?.[op >= rune ? "taking" : "bare"].push(place);
      if (op === alternative || op === alternativeMatch) sources[arg]?.bare.push(place);
    }
    this.#sources = sources;
  }

  /** The earliest place from `from` on where a match begins that ends at `to`; undefined: none does. `before`: beside `from`. */
  ofEnded(text: string, from: number, before: Beside, to: number): number | undefined {
    const after = this.#program.asks ? this.#besideOf(text.codePointAt(to) ?? textEnd) : noText;
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
    for (let at = to; at >= from && (state & dead) === 0; ) {
      // Whether one begins at a place is known when what stands before it is.
      const unit = at > from ? text.charCodeAt(at - 1) : sampleOf(before);
      const isAscii = unit >= 0 && unit < 128;
      const known = isAscii ? (this.#table.ascii[(state >> stateBits) * 128 + unit] ?? 0) : 0;
      const codePoint = isAscii || at <= from ? unit : codePointBefore(text, at);
      state = known === 0 ? this.#table.next(state, codePoint, this.#step) : known;
      if ((state & begins) !== 0) earliest = at;
      at -= sizeOf(codePoint);
    }
    return earliest;
  }

  readonly #step = (state: number, codePoint: number): number => {
    const { places, after } = this.#table.stateOf(state);
    const before = codePoint === textEnd ? noText : beforeOf(codePoint, this.#program);
    const reached = new Set(places);
    this.#addBare(reached, assertionsAt(before, sampleOf(after)));
    const taking = codePoint === textEnd ? [] : this.#passing(reached, codePoint);
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
        const { op = deadEnd, arg = 0 } = this.#program.instructions[source] ?? {};
        if (op !== assertion || (arg & ~holding) === 0) reached.add(source);
      }
    }
  }

  #number(ways: Ways, hasBegun: boolean): number {
    const { places, after } = ways;
    const bits = (hasBegun ? begins : 0) | (places.length === 0 ? dead : 0);
    return this.#table.numberOf(`${places.join()} ${after} ${hasBegun}`, ways, bits);
  }

  /** What stands behind a place with this code point; one for all if nothing asks. */
  #besideOf(codePoint: number): Beside {
    if (!this.#program.asks || codePoint === textEnd) return noText;
    return codePoint === newLine ? lineFeed : beforeOf(codePoint, this.#program);
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
  if (beside === noText) return textEnd;
  if (beside === lineFeed) return newLine;
  if (beside === anyCharacter) return optionalLetter;
  return beside === wordCharacter ? letter : space;
}

const newLine = 0x0a;
const letter = 0x61;
const optionalLetter = optionalCharacter(letter).charCodeAt(0);
const space = 0x20;

/** A match begins behind the character that was read last. */
const begins = 1;
/** None begins before it. */
const dead = 2;
