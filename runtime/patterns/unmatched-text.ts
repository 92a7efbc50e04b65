import { decidingBits, isIdle } from "./automaton.ts";
import { noText, otherCharacter } from "./pattern-program.ts";
import type { Search } from "./search.ts";
import { stateBits } from "./state-table.ts";

/**
 * A text that comes in pieces and passes several searches, none of which has found anything in it: they read each piece side
 * by side, and what waits for its rest is held once. Most texts of streams are such ones, and have many small pieces. Whoever
 * wants to know what is found reads what is held with the searches themselves: no match has begun before it.
 */
export class UnmatchedText {
  readonly #walks: readonly SearchWalk[];
  /** What is held. */
  #text = "";
  /** The piece that is read, by its characters. */
  #codes = new Uint8Array(64);

  private constructor(searches: readonly Search[]) {
    this.#walks = searches.map((search) => new SearchWalk(search));
  }

  /** Undefined: one of the searches asks what stands beside its matches, and has to read for itself. */
  static of(searches: readonly Search[]): UnmatchedText | undefined {
    const asks = ({ program }: Search) => program.asksWords || program.asksLines;
    return searches.some(asks) ? undefined : new UnmatchedText(searches);
  }

  /** Begins where nothing is held. `before`: the character there; "": the text begins. */
  begin(before: string): void {
    this.#text = "";
    for (const walk of this.#walks) walk.begin(before);
  }

  /**
   * Takes a piece, and gives what waits no longer; undefined: a match may end in it, or it has to be read in another way. It is
   * not taken then, and before the next one this has to begin anew.
   */
  push(piece: string): string | undefined {
    const { length } = piece;
    if (!this.#readCodes(piece)) return undefined;
    const held = this.#text.length;
    let from = held + length;
    for (const walk of this.#walks) {
      const since = walk.read(this.#codes, length, held);
      if (since === undecided) return undefined;
      if (since < from) from = since;
    }
    if (held === 0 && from === length) return piece;
    const whole = this.#text + piece;
    for (const walk of this.#walks) walk.forget(from);
    this.#text = whole.slice(from);
    return whole.slice(0, from);
  }

  /** What is held, which is another's from now on. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  /** False: it has characters beyond ASCII. */
  #readCodes(piece: string): boolean {
    const { length } = piece;
    if (length > this.#codes.length) this.#codes = new Uint8Array(2 * length);
    const codes = this.#codes;
    for (let at = 0; at < length; at++) {
      const unit = piece.charCodeAt(at);
      if (unit > 127) return false;
      codes[at] = unit;
    }
    return true;
  }
}

/** In the place of where a match may have begun. */
const undecided = -1;

/** One search on its way. */
class SearchWalk {
  readonly #search: Search;
  #state = 0;
  #generation = 0;
  /** Where in what is held a match may have begun; of an idle state nobody asks. */
  #since = 0;

  constructor(search: Search) {
    this.#search = search;
    this.begin("");
  }

  begin(before: string): void {
    const { automaton } = this.#search;
    this.#state = automaton.initial(before === "" ? noText : otherCharacter);
    this.#generation = automaton.generation;
  }

  /** Reads the codes of a piece behind `held` characters: from where on they have to be held, or their end. */
  read(codes: Uint8Array, length: number, held: number): number {
    const { automaton, leavesIdle, settings } = this.#search;
    if (automaton.generation !== this.#generation) return undecided;
    const { ascii } = automaton;
    const initial = automaton.initial(otherCharacter);
    let state = this.#state;
    let since = this.#since;
    for (let at = 0; at < length; at++) {
      const unit = codes[at] ?? 0;
      if (isIdle(state)) {
        if (leavesIdle[unit] === 0) {
          state = initial;
          continue;
        }
        since = held + at;
      }
      state = ascii[(state >> stateBits) * 128 + unit] ?? 0;
      // Nobody has been here, or it is a matter of matches.
      if (state === 0 || (state & decidingBits) !== 0) return undecided;
    }
    this.#state = state;
    this.#since = since;
    const end = held + length;
    if (isIdle(state)) return end;
    // What is longer than any match is not held: the search knows how it goes on.
    return end - since > settings.longest ? undecided : since;
  }

  /** What stands before a place is held no longer. */
  forget(to: number): void {
    this.#since -= to;
  }
}
