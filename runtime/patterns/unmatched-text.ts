import { ALL_IDLE, type JointAutomaton, UNDECIDED } from "./joint-automaton.ts";
import { TEXT_END } from "./pattern-program.ts";
import { STATE_BITS } from "./state-table.ts";

/**
 * A text that arrives in pieces and passes several searches, none of which has found anything in it. They read it as one,
 * and the waiting text is held once. Most texts of streams are like this, in many small pieces. When a match may end, the
 * searches read the held text themselves: no match has started before it.
 */
export class UnmatchedText {
  readonly #automaton: JointAutomaton;
  #state = 0;
  #generation = 0;
  /** Held text: a match may have started at its first character. */
  #text = "";

  constructor(automaton: JointAutomaton) {
    this.#automaton = automaton;
  }

  /**
   * Starts while nothing is held; false if it cannot. `before` is the preceding character, empty at the start of the text.
   */
  begin(before: string): boolean {
    const state = this.#automaton.initial(before === "" ? TEXT_END : before.charCodeAt(0));
    if (state === undefined) return false;
    this.#text = "";
    this.#state = state;
    this.#generation = this.#automaton.generation;
    return true;
  }

  /**
   * Takes a piece and returns the text that no longer waits. Returns `undefined`, without taking the piece, if a match may
   * end in it or it must be read in another way; call `begin` before the next piece then.
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
        // Transition that is not cached yet.
        next = automaton.next(state, code);
        if (automaton.generation !== generation) return undefined;
        ascii = automaton.ascii;
      }
      if ((next & UNDECIDED) !== 0) return undefined;
      if ((next & ALL_IDLE) !== 0) from = held + at + 1;
      state = next;
    }
    // Text longer than any match is not held: the searches decide how it continues.
    if (held + piece.length - from > automaton.longest) return undefined;
    this.#state = state;
    if (from === piece.length && held === 0) return piece;
    const whole = this.#text + piece;
    this.#text = whole.slice(from);
    return whole.slice(0, from);
  }

  /** Returns the held text and clears it. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}
