import { ALL_IDLE, type JointAutomaton, undecided } from "./joint-automaton.ts";
import { STATE_BITS } from "./state-table.ts";

/**
 * A text that comes in pieces and passes several searches, none of which has found anything in it: they read it as one, and
 * what waits for its rest is held once. Most texts of streams are such ones, and have many small pieces. Whoever wants to know
 * what is found reads what is held with the searches themselves: no match has begun before it.
 */
export class UnmatchedText {
  readonly #automaton: JointAutomaton;
  #state = 0;
  #generation = 0;
  /** What is held: a match may have begun at its beginning. */
  #text = "";

  constructor(automaton: JointAutomaton) {
    this.#automaton = automaton;
  }

  /** Begins where nothing is held. `before`: the character there; "": the text begins. False: it can't. */
  begin(before: string): boolean {
    const state = this.#automaton.initial(before);
    if (state === undefined) return false;
    this.#text = "";
    this.#state = state;
    this.#generation = this.#automaton.generation;
    return true;
  }

  /**
   * Takes a piece, and gives what waits no longer; undefined: a match may end in it, or it has to be read in another way. It is
   * not taken then, and before the next one this has to begin anew.
   */
  push(piece: string): string | undefined {
    const automaton = this.#automaton;
    const generation = this.#generation;
    if (automaton.generation !== generation) return undefined;
    let { ascii } = automaton;
    let state = this.#state;
    const held = this.#text.length;
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code > 127) return undefined;
      let next = ascii[(state >> STATE_BITS) * 128 + code] ?? 0;
      if (next === 0) {
        // Nobody has been here.
        next = automaton.next(state, code);
        if (automaton.generation !== generation) return undefined;
        ascii = automaton.ascii;
      }
      if ((next & undecided) !== 0) return undefined;
      if ((next & ALL_IDLE) !== 0) from = held + at + 1;
      state = next;
    }
    // What is longer than any match is not held: the searches know how it goes on.
    if (held + piece.length - from > automaton.longest) return undefined;
    this.#state = state;
    if (from === piece.length && held === 0) return piece;
    const whole = this.#text + piece;
    this.#text = whole.slice(from);
    return whole.slice(0, from);
  }

  /** What is held, which is another's from now on. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}
