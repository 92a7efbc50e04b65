import type { Automaton } from "./automaton.ts";

/** Where a text has the next characters that matches end with: it is looked for once, not for each match that has begun. */
export class ComingEnds {
  readonly #automaton: Automaton;
  /** By the index of characters that a match ends with: from where on the text was searched, and where the next one is. */
  #froms: number[] = [];
  #places: number[] = [];

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  /** The text is another one. */
  forget(): void {
    if (this.#places.length === 0) return;
    this.#froms = [];
    this.#places = [];
  }

  /**
   * Whether threads of a state come to no further match: what it would have to end with does not come from a place on, or
   * comes later than `lookahead`. `isComplete`: nothing comes behind the text.
   */
  areBefore(
    text: string,
    state: number,
    from: number,
    lookahead: number,
    isComplete: boolean,
  ): boolean {
    const last = this.#automaton.lastCharacters(state);
    if (last === null) return false;
    const { index, ascii, search } = last;
    const { length } = text;
    // Where it comes at once, the text needs no search.
    if (from < length && ascii[text.charCodeAt(from)] === 1) return from > lookahead;
    let next = this.#places[index] ?? -1;
    // Who reads ahead comes back.
    if (next < from || from < (this.#froms[index] ?? 0)) {
      search.lastIndex = from;
      next = search.test(text) ? search.lastIndex - 1 : length;
      this.#froms[index] = from;
      this.#places[index] = next;
    }
    return next > lookahead || (isComplete && next === length);
  }
}
