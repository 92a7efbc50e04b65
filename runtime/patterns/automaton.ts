import { AMBIGUOUS_UNITS } from "./ambiguous-character.ts";
import { CONTROL_UNITS } from "./character-reading.ts";
import { BEYOND_ASCII, escapedUnit, type LastCharacters, MatchEnds } from "./match-ends.ts";
import {
  beforeOf,
  LINE_FEED,
  NEIGHBOR_KINDS,
  type Neighbor,
  NO_TEXT,
  OTHER_CHARACTER,
  type PatternProgram,
  Stepper,
  TEXT_END,
  WORD_CHARACTER,
} from "./pattern-program.ts";
import { STATE_BITS, StateTable } from "./state-table.ts";

/** Active threads of a program after a prefix of a text. */
export interface Threads {
  /** Program places by priority: threads that started first come first. */
  readonly places: readonly number[];
  /** Whether new matches may start, because none has been found. */
  readonly isSearching: boolean;
  readonly before: Neighbor;
}

/**
 * Deterministic form of a program, built lazily from the texts that are read: each character costs one step, whatever the
 * pattern. A state is a number whose lowest bits hold flags: see `isIdle` to `endsSurely`.
 */
export class Automaton {
  readonly #program: PatternProgram;
  readonly #stepper: Stepper;
  readonly #table: StateTable<Threads>;
  readonly #ends: MatchEnds;
  /** By state: the last characters of a longer match; null if they are unknown. */
  #lastCharacters: (LastCharacters | null | undefined)[] = [];
  /**
   * By the preceding neighbor: the state where matches may start, and the one where a match starts at that place or nowhere.
   */
  readonly #initials = new Int32Array(NEIGHBOR_KINDS);
  readonly #begun = new Int32Array(NEIGHBOR_KINDS);
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

  /** Number of times that all states were discarded. State numbers of earlier generations are invalid. */
  get generation(): number {
    return this.#table.generation;
  }

  /** Returns the characters that a started match must end with; null if any character may end it. */
  lastCharacters(state: number): LastCharacters | null {
    const known = this.#lastCharacters[state >> STATE_BITS];
    if (known !== undefined) return known;
    const made = this.#ends.after(this.threadsOf(state).places) ?? null;
    this.#lastCharacters[state >> STATE_BITS] = made;
    return made;
  }

  /** Returns the state at a place of a text where matches may start. */
  initial(before: Neighbor): number {
    const known = this.#initials[before];
    if (known) return known;
    const made = this.#number({ places: [], isSearching: true, before }, false);
    this.#initials[before] = made;
    return made;
  }

  /** Returns the state at a place of a text where a match starts, or none does. */
  begun(before: Neighbor): number {
    const known = this.#begun[before];
    if (known) return known;
    const made = this.#number({ places: [this.#program.start], isSearching: false, before }, false);
    this.#begun[before] = made;
    return made;
  }

  /** Returns the state with these threads, which come from an automaton of this program. */
  restored(threads: Threads): number {
    return this.#number(threads, false);
  }

  /** By ASCII character: 1 if a match may start with it, whatever precedes it. */
  get leavesIdle(): Uint8Array {
    this.#leavesIdle ??= Uint8Array.from({ length: 128 }, (_, character) =>
      PLACES.some((before) => this.#leavesAt(before, character)) ? 1 : 0,
    );
    return this.#leavesIdle;
  }

  /**
   * Returns an expression for characters of a reading that a match may start with. `others`: including any character beyond
   * ASCII.
   */
  beginnings(others: boolean): RegExp {
    return new RegExp(`[${this.#beginningUnits()}${others ? BEYOND_ASCII : AMBIGUOUS_UNITS}]`, "g");
  }

  /** Expression for characters that a match may start with, or that are not read as they are written. */
  get unreadBeginnings(): RegExp {
    return new RegExp(`[${this.#beginningUnits()}${CONTROL_UNITS}${BEYOND_ASCII}]`, "g");
  }

  #beginningUnits(): string {
    return Array.from(this.leavesIdle, (leaves, unit) => (leaves ? escapedUnit(unit) : "")).join(
      "",
    );
  }

  /** Returns the state after another code point, or after the end of the text. */
  next(state: number, codePoint: number): number {
    return this.#table.next(state, codePoint, this.#step);
  }

  #leavesAt(before: Neighbor, character: number): boolean {
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

  /** Returns the threads of a state, which remain valid when its number does not. */
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

/** Possible neighbors before a place. */
const PLACES: readonly Neighbor[] = [NO_TEXT, LINE_FEED, WORD_CHARACTER, OTHER_CHARACTER];

const IDLE = 1;
/** Bit of states: a match ended before the last character. */
export const MATCHED_BIT = 2;
const DEAD = 4;
const SURE = 8;
/** Bits of states in which no thread continues. */
export const ENDING_BITS: number = IDLE | DEAD;

/** Bits of states that end a match: one ended here or before the last character, or no started one continues. */
export const DECIDING_BITS: number = MATCHED_BIT | DEAD | SURE;

/** Whether no match has started. */
export function isIdle(state: number): boolean {
  return (state & IDLE) !== 0;
}

/** Whether a match ended before the last character. */
export function hasMatched(state: number): boolean {
  return (state & MATCHED_BIT) !== 0;
}

/** Whether nothing more can match. */
export function isDead(state: number): boolean {
  return (state & DEAD) !== 0;
}

/** Whether a match ends after the last character, whatever follows. */
export function endsSurely(state: number): boolean {
  return (state & SURE) !== 0;
}
