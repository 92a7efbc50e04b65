import { beyondAscii, escapedUnit, type LastCharacters, MatchEnds } from "./match-ends.ts";
import {
  type Before,
  beforeOf,
  lineFeed,
  noText,
  otherCharacter,
  type PatternProgram,
  Stepper,
  textEnd,
  wordCharacter,
} from "./pattern-program.ts";

/** Where a text is looked at. */
export interface SearchedRange {
  /** Matches begin here or after it. */
  readonly from: number;
  /** What stands before `from`. */
  readonly before: Before;
  /** The match ends here, as an automaton found. */
  readonly to: number;
}

/** The threads of a program after a part of a text. */
export interface Threads {
  /** In order of their priority: those that began first come first. */
  readonly places: readonly number[];
  /** New matches may begin: none has been found. */
  readonly isSearching: boolean;
  readonly before: Before;
}

/** States are kept up to this number; then they are made anew. */
const maxStates = 1_000;

/** Ways out of states by characters beyond ASCII that are kept; a power of two. */
const maxOthers = 4_096;

/**
 * The deterministic form of a program, made as texts ask for it: a character costs one step whatever the pattern. A state
 * is a number, whose lowest bits say what it means: see `isIdle` and `isEvent`.
 */
export class Automaton {
  readonly #program: PatternProgram;
  readonly #stepper: Stepper;
  readonly #numbers = new Map<string, number>();
  #threads: Threads[] = [];
  /** Ways out by characters beyond ASCII, and what they are: each pair has one place. */
  readonly #others = new Int32Array(maxOthers);
  readonly #otherKeys = new Int32Array(maxOthers);
  readonly #ends: MatchEnds;
  /** By state: what a longer match ends with; null: it is not known. */
  #lastCharacters: (LastCharacters | null | undefined)[] = [];
  /** By state and ASCII character: `ascii[(state >> stateBits) * 128 + character]`; 0: it was not read there. */
  ascii: Int32Array = new Int32Array(16 * 128);
  /** How often states were made anew: numbers of before mean nothing now. */
  generation = 0;
  /** By what stands before: the state where matches may begin, and the one where one begins at that place or nowhere. */
  readonly #initials = new Int32Array(4);
  readonly #begun = new Int32Array(4);
  #leavesIdle: Uint8Array | undefined;

  constructor(program: PatternProgram) {
    this.#program = program;
    this.#stepper = new Stepper(program);
    this.#ends = new MatchEnds(program);
  }

  /** Finds what a match from a state on must end with; null: anything may be that. */
  lastCharacters(state: number): LastCharacters | null {
    const known = this.#lastCharacters[state >> stateBits];
    if (known !== undefined) return known;
    const { places, isSearching } = this.threadsOf(state);
    const isUnknown = isSearching && !endsSurely(state);
    const made = isUnknown ? null : (this.#ends.after(places) ?? null);
    this.#lastCharacters[state >> stateBits] = made;
    return made;
  }

  /** The state at a place of a text where matches may begin. */
  initial(before: Before): number {
    const known = this.#initials[before];
    if (known) return known;
    const made = this.#number({ places: [], isSearching: true, before }, false);
    this.#initials[before] = made;
    return made;
  }

  #begunAt(before: Before): number {
    const known = this.#begun[before];
    if (known) return known;
    const made = this.#number({ places: [this.#program.start], isSearching: false, before }, false);
    this.#begun[before] = made;
    return made;
  }

  /** Whether a match begins at the place from which a text is looked at. States may have other numbers after it. */
  beginsAt(text: string, { from, before, to }: SearchedRange): boolean {
    let state = this.#begunAt(before);
    for (let at = from; at <= to && !isDead(state); ) {
      const unit = text.charCodeAt(at);
      const known = unit < 128 ? (this.ascii[(state >> stateBits) * 128 + unit] ?? 0) : 0;
      const codePoint = known === 0 ? (text.codePointAt(at) ?? textEnd) : unit;
      state = known === 0 ? this.next(state, codePoint) : known;
      if (hasMatched(state)) return true;
      at += codePoint > 0xffff ? 2 : 1;
    }
    return false;
  }

  /** The state with these threads, as far as they were given by an automaton of this program. */
  restored(threads: Threads): number {
    return this.#number(threads, false);
  }

  /** By ASCII character: 1 where a match may begin with it, whatever stands before it. */
  get leavesIdle(): Uint8Array {
    this.#leavesIdle ??= Uint8Array.from({ length: 128 }, (_, character) =>
      places.some((before) => this.#leavesAt(before, character)) ? 1 : 0,
    );
    return this.#leavesIdle;
  }

  /** Finds an ASCII character that a match may begin with. `others`: or any other one. */
  beginnings(others: boolean): RegExp {
    const units = Array.from(this.leavesIdle, (leaves, unit) => (leaves ? escapedUnit(unit) : ""));
    return new RegExp(`[${units.join("")}${others ? beyondAscii : ""}]`, "g");
  }

  /** The state after a further code point, or the end of the text. */
  next(state: number, codePoint: number): number {
    const isAscii = codePoint >= 0 && codePoint < 128;
    const key = (state >> stateBits) * 0x110001 + codePoint + 1;
    const at = isAscii
      ? (state >> stateBits) * 128 + codePoint
      : (key ^ (key >> 12)) & (maxOthers - 1);
    const known = isAscii ? this.ascii[at] : this.#otherKeys[at] === key && this.#others[at];
    if (known) return known;
    const { generation } = this;
    const made = this.#step(state, codePoint);
    if (this.generation !== generation) return made;
    if (isAscii) this.ascii[at] = made;
    else {
      this.#otherKeys[at] = key;
      this.#others[at] = made;
    }
    return made;
  }

  #leavesAt(before: Before, character: number): boolean {
    let hasMoved = false;
    const moved = (): void => {
      hasMoved = true;
    };
    this.#stepper.begin();
    return this.#stepper.step(this.#program.start, before, character, moved) || hasMoved;
  }

  #step(state: number, codePoint: number): number {
    const { places, isSearching, before } = this.threadsOf(state);
    const moved: number[] = [];
    const add = (place: number): void => {
      if (!moved.includes(place)) moved.push(place);
    };
    this.#stepper.begin();
    let hasMatched = places.some((place) => this.#stepper.step(place, before, codePoint, add));
    if (!hasMatched && isSearching) {
      hasMatched = this.#stepper.step(this.#program.start, before, codePoint, add);
    }
    const after = codePoint === textEnd ? before : beforeOf(codePoint, this.#program);
    const next = { places: moved, isSearching: isSearching && !hasMatched, before: after };
    return this.#number(next, hasMatched);
  }

  /** What a state stands for: it outlives the number. */
  threadsOf(state: number): Threads {
    const threads = this.#threads[(state >> stateBits) - 1];
    if (threads === undefined) throw new Error("a state of another automaton");
    return threads;
  }

  #number(threads: Threads, hasMatched: boolean): number {
    const { places, isSearching, before } = threads;
    const key = `${places.join()} ${isSearching} ${before} ${hasMatched}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#threads.length >= maxStates) this.#forget();
    const count = this.#threads.push(threads);
    const isDeadNow = places.length === 0 && !isSearching;
    const isIdleNow = places.length === 0 && isSearching && !hasMatched;
    const bits = (isIdleNow ? idle : 0) | (hasMatched ? matchedBit : 0) | (isDeadNow ? dead : 0);
    const number = (count << stateBits) | bits | (this.#ends.areSure(places) ? sure : 0);
    this.#numbers.set(key, number);
    if ((count + 1) * 128 > this.ascii.length) {
      const larger = new Int32Array(this.ascii.length * 2);
      larger.set(this.ascii);
      this.ascii = larger;
    }
    return number;
  }

  #forget(): void {
    this.#numbers.clear();
    this.#threads = [];
    this.#otherKeys.fill(0);
    this.#lastCharacters = [];
    this.#initials.fill(0);
    this.#begun.fill(0);
    this.ascii.fill(0);
    this.generation += 1;
  }
}

/** What may stand before a place. */
const places: readonly Before[] = [noText, lineFeed, wordCharacter, otherCharacter];

const idle = 1;
/** A match ended before the last character. */
export const matchedBit = 2;
const dead = 4;
const sure = 8;
/** A state's number begins behind so many bits. */
export const stateBits = 4;
/** No thread goes on. */
export const endingBits: number = idle | dead;

/** A match ends here or before it, or none goes on where one had begun. */
export const decidingBits: number = matchedBit | dead | sure;

/** No match has begun. */
export function isIdle(state: number): boolean {
  return (state & idle) !== 0;
}

/** A match ended before the last character. */
export function hasMatched(state: number): boolean {
  return (state & matchedBit) !== 0;
}

/** Nothing more can match. */
export function isDead(state: number): boolean {
  return (state & dead) !== 0;
}

/** A match ends behind the last character, whatever comes. */
export function endsSurely(state: number): boolean {
  return (state & sure) !== 0;
}
