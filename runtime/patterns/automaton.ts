import { AMBIGUOUS_UNITS } from "./ambiguous-character.ts";
import { CONTROL_UNITS } from "./character-reading.ts";
import { BEYOND_ASCII, escapedUnit, type LastCharacters, MatchEnds } from "./match-ends.ts";
import {
  type Beside,
  beforeOf,
  besides,
  LINE_FEED,
  NO_TEXT,
  OTHER_CHARACTER,
  type PatternProgram,
  Stepper,
  TEXT_END,
  WORD_CHARACTER,
} from "./pattern-program.ts";
import { STATE_BITS, StateTable } from "./state-table.ts";

/** The threads of a program after a part of a text. */
export interface Threads {
  /** In order of their priority: those that began first come first. */
  readonly places: readonly number[];
  /** New matches may begin: none has been found. */
  readonly isSearching: boolean;
  readonly before: Beside;
}

/**
 * The deterministic form of a program, made as texts ask for it: a character costs one step whatever the pattern. A state
 * is a number, whose lowest bits say what it means: see `isIdle` and `isEvent`.
 */
export class Automaton {
  readonly #program: PatternProgram;
  readonly #stepper: Stepper;
  readonly #table: StateTable<Threads>;
  readonly #ends: MatchEnds;
  /** By state: what a longer match ends with; null: it is not known. */
  #lastCharacters: (LastCharacters | null | undefined)[] = [];
  /** By what stands before: the state where matches may begin, and the one where one begins at that place or nowhere. */
  readonly #initials = new Int32Array(besides);
  readonly #begun = new Int32Array(besides);
  #leavesIdle: Uint8Array | undefined;

  constructor(program: PatternProgram) {
    this.#program = program;
    this.#stepper = new Stepper(program);
    this.#ends = new MatchEnds(program);
    this.#table = new StateTable(() => {
      this.#lastCharacters = [];
      this.#initials.fill(0);
      this.#begun.fill(0);
    });
  }

  /** By state and ASCII character: see `StateTable`. */
  get ascii(): Int32Array {
    return this.#table.ascii;
  }

  /** How often states were made anew: numbers of before mean nothing now. */
  get generation(): number {
    return this.#table.generation;
  }

  /** Finds what a match must end with that has begun; null: anything may be that. */
  lastCharacters(state: number): LastCharacters | null {
    const known = this.#lastCharacters[state >> STATE_BITS];
    if (known !== undefined) return known;
    const made = this.#ends.after(this.threadsOf(state).places) ?? null;
    this.#lastCharacters[state >> STATE_BITS] = made;
    return made;
  }

  /** The state at a place of a text where matches may begin. */
  initial(before: Beside): number {
    const known = this.#initials[before];
    if (known) return known;
    const made = this.#number({ places: [], isSearching: true, before }, false);
    this.#initials[before] = made;
    return made;
  }

  /** The state at a place of a text where a match begins, or none does. */
  begun(before: Beside): number {
    const known = this.#begun[before];
    if (known) return known;
    const made = this.#number({ places: [this.#program.start], isSearching: false, before }, false);
    this.#begun[before] = made;
    return made;
  }

  /** The state with these threads, as far as they were given by an automaton of this program. */
  restored(threads: Threads): number {
    return this.#number(threads, false);
  }

  /** By ASCII character: 1 where a match may begin with it, whatever stands before it. */
  get leavesIdle(): Uint8Array {
    this.#leavesIdle ??= Uint8Array.from({ length: 128 }, (_, character) =>
      PLACES.some((before) => this.#leavesAt(before, character)) ? 1 : 0,
    );
    return this.#leavesIdle;
  }

  /** Finds a character of a reading that a match may begin with. `others`: or any other one beyond ASCII. */
  beginnings(others: boolean): RegExp {
    return new RegExp(`[${this.#beginningUnits()}${others ? BEYOND_ASCII : AMBIGUOUS_UNITS}]`, "g");
  }

  /** Finds a character that a match may begin with in a text as it is written, or one that reads otherwise. */
  get unreadBeginnings(): RegExp {
    return new RegExp(`[${this.#beginningUnits()}${CONTROL_UNITS}${BEYOND_ASCII}]`, "g");
  }

  #beginningUnits(): string {
    return Array.from(this.leavesIdle, (leaves, unit) => (leaves ? escapedUnit(unit) : "")).join(
      "",
    );
  }

  /** The state after a further code point, or the end of the text. */
  next(state: number, codePoint: number): number {
    return this.#table.next(state, codePoint, this.#step);
  }

  #leavesAt(before: Beside, character: number): boolean {
    let hasMoved = false;
    const moved = (): void => {
      hasMoved = true;
    };
    this.#stepper.begin();
    return this.#stepper.step(this.#program.start, before, character, moved) || hasMoved;
  }

  readonly #step = (state: number, codePoint: number): number => {
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
    const after = codePoint === TEXT_END ? before : beforeOf(codePoint, this.#program);
    const next = { places: moved, isSearching: isSearching && !hasMatched, before: after };
    return this.#number(next, hasMatched);
  };

  /** What a state stands for: it outlives the number. */
  threadsOf(state: number): Threads {
    return this.#table.stateOf(state);
  }

  #number(threads: Threads, hasMatched: boolean): number {
    const { places, isSearching, before } = threads;
    const key = `${places.join()} ${isSearching} ${before} ${hasMatched}`;
    const isDeadNow = places.length === 0 && !isSearching;
    const isIdleNow = places.length === 0 && isSearching && !hasMatched;
    const bits = (isIdleNow ? IDLE : 0) | (hasMatched ? MATCHED_BIT : 0) | (isDeadNow ? DEAD : 0);
    return this.#table.numberOf(key, threads, bits | (this.#ends.areSure(places) ? SURE : 0));
  }
}

/** What may stand before a place. */
const PLACES: readonly Beside[] = [NO_TEXT, LINE_FEED, WORD_CHARACTER, OTHER_CHARACTER];

const IDLE = 1;
/** A match ended before the last character. */
export const MATCHED_BIT = 2;
const DEAD = 4;
const SURE = 8;
/** No thread goes on. */
export const ENDING_BITS: number = IDLE | DEAD;

/** A match ends here or before it, or none goes on where one had begun. */
export const DECIDING_BITS: number = MATCHED_BIT | DEAD | SURE;

/** No match has begun. */
export function isIdle(state: number): boolean {
  return (state & IDLE) !== 0;
}

/** A match ended before the last character. */
export function hasMatched(state: number): boolean {
  return (state & MATCHED_BIT) !== 0;
}

/** Nothing more can match. */
export function isDead(state: number): boolean {
  return (state & DEAD) !== 0;
}

/** A match ends behind the last character, whatever comes. */
export function endsSurely(state: number): boolean {
  return (state & SURE) !== 0;
}
