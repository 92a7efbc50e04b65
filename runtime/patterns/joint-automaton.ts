import { Automaton, DECIDING_BITS, isIdle } from "./automaton.ts";
import { isPlainUnit } from "./character-reading.ts";
import { beforeOf, NO_TEXT, TEXT_END } from "./pattern-program.ts";
import type { Search } from "./search.ts";
import { StateTable } from "./state-table.ts";

/** One of the joined automata. */
interface Member {
  readonly search: Search;
  readonly automaton: Automaton;
}

/**
 * Automata of several searches joined into one: each character costs one step, whatever the number of searches. A member
 * that has found a match rests. States are built lazily from the texts that are read.
 */
export class JointAutomaton {
  /** Maximum length of a match of any search, in UTF-16 units. */
  readonly longest: number;
  readonly #members: readonly Member[];
  /** For each state, the states of the members. */
  readonly #table: StateTable<readonly number[]>;
  #isOverflowed = false;
  /** States in which no match has started and no member rests: at the start of a text, and by the preceding ASCII character. */
  readonly #initials = new Int32Array(129);
  #computed = 0;

  /** Joins one search or more. */
  constructor(searches: readonly Search[]) {
    this.longest = Math.max(...searches.map(({ settings }) => settings.longest));
    // Separate automata, so that nobody else discards their states.
    this.#members = searches.map((search) => ({
      search,
      automaton: new Automaton(search.program),
    }));
    this.#table = new StateTable(() => this.#initials.fill(0));
  }

  /** Whether texts in pieces can be read: a search that reads composed characters may wait for a mark in the next piece. */
  get readsPieces(): boolean {
    return this.#members.every(({ search }) => !search.reader.composes);
  }

  /** By state and ASCII character: see `StateTable`. */
  get ascii(): Int32Array {
    return this.#table.ascii;
  }

  /** Number of times that all states were discarded. State numbers of earlier generations are invalid. */
  get generation(): number {
    return this.#table.generation;
  }

  /**
   * Returns the state in which no match has started; `undefined` if there are too many states. `before` is the code of the
   * preceding character, or TEXT_END at the start of the text. `resting`: bits of members that need not be asked.
   */
  initial(before: number, resting = 0): number | undefined {
    if (this.#isOverflowed) return undefined;
    const known = resting === 0 ? this.#initials[before + 1] : undefined;
    if (known !== undefined && known !== 0) return known;
    const states = this.#members.map(({ search, automaton }, index) =>
      (resting & bitOf(index)) !== 0
        ? RESTING
        : automaton.initial(before === TEXT_END ? NO_TEXT : beforeOf(before, search.program)),
    );
    const made = this.#number(states, false);
    if (resting === 0 && before < 128) this.#initials[before + 1] = made;
    return made;
  }

  /** Returns the state after another code point, or after the end of the text. */
  next(state: number, code: number): number {
    return this.#table.next(state, code, this.#step);
  }

  /** Whether a member had too many states and discarded them, so that nothing is decided any more. */
  get isOverflowed(): boolean {
    return this.#isOverflowed;
  }

  /** Number of transitions that were computed so far. */
  get computed(): number {
    return this.#computed;
  }

  /** Returns the indexes of the members that rest in a state. */
  restingIn(state: number): readonly number[] {
    return this.#table.stateOf(state).flatMap((own, index) => (own === RESTING ? [index] : []));
  }

  readonly #step = (state: number, code: number): number => {
    this.#computed += 1;
    const states = this.#table.stateOf(state);
    // A control character is not read as it is written.
    if (code >= 0 && code < 128 && !isPlainUnit(code)) return this.#number(states, true);
    let isDecided = false;
    const next = this.#members.map((member, index) => {
      const own = states[index] ?? RESTING;
      if (own === RESTING) return RESTING;
      const after = afterStep(member, own, code);
      if ((after & DECIDING_BITS) === 0) return after;
      isDecided = true;
      return RESTING;
    });
    return this.#number(next, isDecided);
  };

  #number(states: readonly number[], isDecided: boolean): number {
    this.#isOverflowed ||= this.#members.some(({ automaton }) => automaton.generation > 0);
    const isUndecided = isDecided || this.#isOverflowed;
    const isAllIdle = states.every((state) => state === RESTING || isIdle(state));
    const bits = (isAllIdle ? ALL_IDLE : 0) | (isUndecided ? UNDECIDED : 0);
    return this.#table.numberOf(`${states.join()} ${bits}`, states, bits);
  }
}

/** Bit of states: no search has started a match. */
export const ALL_IDLE = 1;
/** Bit of states: a match may end here, or a started one stops in a way that its own search must decide. */
export const UNDECIDED = 2;

/** Maximum number of members that can rest from the start, one bit each. */
export const MAX_RESTING = 20;

/** State of a member that rests. */
const RESTING = 0;

/** Returns the bit of a member; 0 beyond the maximum number. */
export function bitOf(index: number): number {
  return index < MAX_RESTING ? 1 << index : 0;
}

function afterStep({ search, automaton }: Member, own: number, code: number): number {
  const { leavesIdle, program } = search;
  const stays = isIdle(own) && code >= 0 && leavesIdle[code] === 0;
  return stays ? automaton.initial(beforeOf(code, program)) : automaton.next(own, code);
}
