import { Automaton, DECIDING_BITS, isIdle } from "./automaton.ts";
import { isPlainUnit } from "./character-reading.ts";
import { NO_TEXT, OTHER_CHARACTER } from "./pattern-program.ts";
import type { Search } from "./search.ts";
import { StateTable } from "./state-table.ts";

/** One of the automata. */
interface Member {
  readonly search: Search;
  readonly automaton: Automaton;
}

/**
 * The automata of several searches as one, for texts in which none of them finds anything: a character costs one step,
 * however many there are. Its states are made as texts ask for them.
 */
export class JointAutomaton {
  /** UTF-16 units of the longest match of all. */
  readonly longest: number;
  readonly #members: readonly Member[];
  /** Of each state those of the members. */
  readonly #table: StateTable<readonly number[]>;
  /** Where nothing has begun: at the beginning of a text, and behind a character. */
  readonly #initials = new Int32Array(2);
  /** A member has made its states anew: there are too many. */
  #isLost = false;

  private constructor(searches: readonly Search[]) {
    this.longest = Math.max(...searches.map(({ settings }) => settings.longest));
    // Their states are its own: nobody else makes them anew.
    this.#members = searches.map((search) => ({
      search,
      automaton: new Automaton(search.program),
    }));
    this.#table = new StateTable(() => this.#initials.fill(0));
  }

  /** Undefined: there is none, or one asks what stands beside its matches, and has to read for itself. */
  static of(searches: readonly Search[]): JointAutomaton | undefined {
    const asks = ({ program, reader }: Search) =>
      program.asksWords || program.asksLines || reader.composes;
    const isNone = searches.length === 0 || searches.some(asks);
    return isNone ? undefined : new JointAutomaton(searches);
  }

  /** By state and ASCII character: see `StateTable`. */
  get ascii(): Int32Array {
    return this.#table.ascii;
  }

  /** How often states were made anew: numbers of before mean nothing now. */
  get generation(): number {
    return this.#table.generation;
  }

  /** The state where nothing has begun. `before`: the character there; "": the text begins. Undefined: it has too many states. */
  initial(before: string): number | undefined {
    if (this.#isLost) return undefined;
    const beside = before === "" ? NO_TEXT : OTHER_CHARACTER;
    const at = before === "" ? 0 : 1;
    const known = this.#initials[at];
    if (known) return known;
    const made = this.#number(this.#members.map(({ automaton }) => automaton.initial(beside)));
    this.#initials[at] = made;
    return made;
  }

  /** The state behind a further ASCII character. */
  next(state: number, code: number): number {
    return this.#table.next(state, code, this.#step);
  }

  readonly #step = (state: number, code: number): number => {
    // A control character does not read as it is written.
    if (!isPlainUnit(code)) return this.#table.numberOf("control", [], undecided);
    const states = this.#table.stateOf(state);
    const next = this.#members.map(({ search, automaton }, index) => {
      const own = states[index] ?? 0;
      const stays = isIdle(own) && search.leavesIdle[code] === 0;
      return stays ? automaton.initial(OTHER_CHARACTER) : automaton.next(own, code);
    });
    return this.#number(next);
  };

  #number(states: readonly number[]): number {
    this.#isLost ||= this.#members.some(({ automaton }) => automaton.generation > 0);
    const isPlain = !this.#isLost && states.every((state) => (state & DECIDING_BITS) === 0);
    const bits = (states.every(isIdle) ? ALL_IDLE : 0) | (isPlain ? 0 : undecided);
    return this.#table.numberOf(`${states.join()} ${bits}`, states, bits);
  }
}

/** A bit of states: no match of any has begun. */
export const ALL_IDLE = 1;
/** A bit of states: a match may end there, or one that has begun does not go on in a way that has to be decided. */
export const undecided = 2;
