import type { Automaton } from "./automaton.ts";

/**
 * Caches where a text next contains the last characters of matches, so that it is searched once rather than for each started
 * match.
 */
export class UpcomingEnds {
  readonly #automaton: Automaton;
  /** By the index of last characters: where the search started, and where the next occurrence is. */
  #froms: number[] = [];
  #places: number[] = [];

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  /** Clears the cache, as the text has changed. */
  forget(): void {
    if (this.#places.length === 0) return;
    this.#froms = [];
    this.#places = [];
  }

  /**
   * Whether the threads of a state reach no further match: its last characters do not occur from `from` on, or occur after
   * `lookahead`. `isComplete`: the text has no more pieces.
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
    // If the next character is one of them, no search is needed.
    if (from < length && ascii[text.charCodeAt(from)] === 1) return from > lookahead;
    let next = this.#places[index] ?? -1;
    // Callers that read ahead may return to an earlier place.
    if (next < from || from < (this.#froms[index] ?? 0)) {
      search.lastIndex = from;
      next = search.test(text) ? search.lastIndex - 1 : length;
      this.#froms[index] = from;
      this.#places[index] = next;
    }
    return next > lookahead || (isComplete && next === length);
  }
}
