import { Automaton, DECIDING_BITS, isIdle } from "./automaton.ts";
import { isPlainUnit } from "./character-reading.ts";
import { NO_TEXT, OTHER_CHARACTER } from "./pattern-program.ts";
import type { Search } from "./search.ts";
import { StateTable } from "./state-table.ts";

/** One of the joined automata. */
interface Member {
  readonly search: Search;
  readonly automaton: Automaton;
}

/**
 * Automata of several searches joined into one, for texts in which none of them finds a match: each character costs one
 * step, whatever the number of searches. States are built lazily from the texts that are read.
 */
export class JointAutomaton {
  /** Maximum length of a match of any search, in UTF-16 units. */
  readonly longest: number;
  readonly #members: readonly Member[];
  /** For each state, the states of the members. */
  readonly #table: StateTable<readonly number[]>;
  /** States in which no match has started: at the start of a text, and after a character. */
  readonly #initials = new Int32Array(2);
  /** Whether a member had too many states and discarded them. */
  #isOverflowed = false;

  private constructor(searches: readonly Search[]) {
    this.longest = Math.max(...searches.map(({ settings }) => settings.longest));
    // Separate automata, so that nobody else discards their states.
    this.#members = searches.map((search) => ({
      search,
      automaton: new Automaton(search.program),
    }));
    this.#table = new StateTable(() => this.#initials.fill(0));
  }

  /**
   * Joins searches; `undefined` without searches, or if one of them has assertions or reads composed characters and must
   * read for itself.
   */
  static of(searches: readonly Search[]): JointAutomaton | undefined {
    const readsAlone = ({ program, reader }: Search) =>
      program.hasWordBoundaries || program.hasLineStarts || reader.composes;
    const isNone = searches.length === 0 || searches.some(readsAlone);
    return isNone ? undefined : new JointAutomaton(searches);
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
   * Returns the state in which no match has started; `undefined` if there are too many states. `before` is the preceding
   * character, empty at the start of the text.
   */
  initial(before: string): number | undefined {
    if (this.#isOverflowed) return undefined;
    const neighbor = before === "" ? NO_TEXT : OTHER_CHARACTER;
    const at = before === "" ? 0 : 1;
    const known = this.#initials[at];
    if (known) return known;
    const made = this.#number(this.#members.map(({ automaton }) => automaton.initial(neighbor)));
    this.#initials[at] = made;
    return made;
  }

  /** Returns the state after another ASCII character. */
  next(state: number, code: number): number {
    return this.#table.next(state, code, this.#step);
  }

  readonly #step = (state: number, code: number): number => {
    // A control character is not read as it is written.
    if (!isPlainUnit(code)) return this.#table.numberOf("control", [], UNDECIDED);
    const states = this.#table.stateOf(state);
    const next = this.#members.map(({ search, automaton }, index) => {
      const own = states[index] ?? 0;
      const stays = isIdle(own) && search.leavesIdle[code] === 0;
      return stays ? automaton.initial(OTHER_CHARACTER) : automaton.next(own, code);
    });
    return this.#number(next);
  };

  #number(states: readonly number[]): number {
    this.#isOverflowed ||= this.#members.some(({ automaton }) => automaton.generation > 0);
    const isPlain = !this.#isOverflowed && states.every((state) => (state & DECIDING_BITS) === 0);
    const bits = (states.every(isIdle) ? ALL_IDLE : 0) | (isPlain ? 0 : UNDECIDED);
    return this.#table.numberOf(`${states.join()} ${bits}`, states, bits);
  }
}

/** Bit of states: no search has started a match. */
export const ALL_IDLE = 1;
/** Bit of states: a match may end here, or a started one stops in a way that its own search must decide. */
export const UNDECIDED = 2;
