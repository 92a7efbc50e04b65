import { countOptional } from "./ambiguous-character.ts";
import {
  DECIDING_BITS,
  endsSurely,
  hasMatched,
  isDead,
  isIdle,
  type Threads,
} from "./automaton.ts";
import { beforeOf, type Neighbor, NO_TEXT, OTHER_CHARACTER, TEXT_END } from "./pattern-program.ts";
import { isHighHalf } from "./reading.ts";
import type { Search } from "./search.ts";
import { type PassedText, passShortMatches } from "./short-matches.ts";
import { STATE_BITS } from "./state-table.ts";
import { UpcomingEnds } from "./upcoming-ends.ts";

/** A match: `text.slice(start, end)`. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a text that arrives in pieces, from match to match. Reads each character once, except those that were read after the
 * end of a match.
 */
export class MatchReader {
  readonly #search: Search;
  /** Part of the text that is not discarded. Places are relative to its start. */
  text = "";
  /** Character before it; empty at the start of the text. */
  previous: string;
  /** Place up to which it was read. */
  read = 0;
  /** Place where the first unfinished match may have started. */
  since = 0;
  /** Place where a match ended that may continue; -1 if none did. */
  end = -1;
  #state: number;
  /** Threads of the state, for when state numbers become invalid. */
  #threads: Threads;
  #generation: number;
  /** State and range in which a match that could have continued did not. The range is not read again in that state. */
  #futileState = 0;
  #futileFrom = 0;
  #futileTo = 0;
  /** Generation of the state number. */
  #futileGeneration = 0;
  readonly #ends: UpcomingEnds;
  /** Number of characters of the text that may be read as nothing. */
  optional = 0;

  /** `previous`: the character before the text; empty if the text starts here. */
  constructor(search: Search, previous: string) {
    this.#search = search;
    this.previous = previous;
    this.#ends = new UpcomingEnds(search.automaton);
    const { automaton } = search;
    this.#state = automaton.initial(this.beforeOf(0));
    this.#threads = automaton.threadsOf(this.#state);
    this.#generation = automaton.generation;
  }

  /** Whether no match has started in the part that was read. */
  get isIdle(): boolean {
    return isIdle(this.#state);
  }

  /** Whether nothing is held and no match has started. */
  get isAtRest(): boolean {
    return this.text === "" && this.end < 0 && this.isIdle;
  }

  /** Skips a text in which another reader found no start of a match, while nothing is held. `last` is its last character. */
  passOver(last: string): void {
    const { automaton } = this.#search;
    this.previous = last;
    this.#state = automaton.initial(this.beforeOf(0));
    this.#threads = automaton.threadsOf(this.#state);
    this.#generation = automaton.generation;
  }

  /** Maximum length of a match in UTF-16 units, including optional characters of the text. */
  get longest(): number {
    return this.#search.settings.longest + Math.min(this.optional, MAX_OPTIONAL);
  }

  /** Appends to the text. `isAmbiguous`: some of it may be read as nothing. */
  append(text: string, isAmbiguous: boolean): void {
    this.text += text;
    if (isAmbiguous) this.optional += countOptional(text);
    this.#ends.forget();
  }

  /**
   * Skips a piece in which no match starts, while nothing is held; false if one may start. `beginnings` matches the
   * characters that one starts with.
   */
  passes(piece: string, beginnings: RegExp): boolean {
    const { automaton } = this.#search;
    const { generation } = automaton;
    if (generation !== this.#generation || !isIdle(this.#state)) return false;
    beginnings.lastIndex = 0;
    if (beginnings.test(piece)) return false;
    this.previous = piece.charAt(piece.length - 1);
    this.#state = automaton.initial(this.beforeOf(0));
    this.#threads = automaton.threadsOf(this.#state);
    return true;
  }

  /**
   * Takes a piece in which no match ends, and returns the part that no longer waits; `undefined` if it was not taken because
   * a match must be decided. This is the fast path for most pieces of streams.
   */
  takePlain(piece: string): string | undefined {
    const { automaton, program, leavesIdle, settings } = this.#search;
    // The neighbor before each character would have to be determined.
    if (program.hasWordBoundaries || program.hasLineStarts) return undefined;
    const initial = automaton.initial(OTHER_CHARACTER);
    const held = this.text.length;
    const isDeciding = this.end >= 0 || this.read !== held;
    if (isDeciding || piece === "" || automaton.generation !== this.#generation) return undefined;
    const { ascii } = automaton;
    let state = this.#state;
    let since = this.since;
    for (let at = 0; at < piece.length; at++) {
      const unit = piece.charCodeAt(at);
      if (unit > 127) return undefined;
      if (isIdle(state)) {
        if (leavesIdle[unit] === 0) {
          state = initial;
          continue;
        }
        since = held + at;
      }
      state = ascii[(state >> STATE_BITS) * 128 + unit] ?? 0;
      if (state === 0 || (state & DECIDING_BITS) !== 0) return undefined;
    }
    const whole = this.text + piece;
    const from = isIdle(state) ? whole.length : Math.max(since, whole.length - settings.longest);
    if (from > 0) this.previous = whole.charAt(from - 1);
    this.text = whole.slice(from);
    this.read = whole.length - from;
    this.since = 0;
    this.#futileTo = 0;
    this.#ends.forget();
    this.#state = state;
    this.#threads = automaton.threadsOf(state);
    return whole.slice(0, from);
  }

  /**
   * Reads until a match is decided, between `since` and `end` (true), or to the end of the text. `isComplete`: no more
   * pieces follow.
   */
  next(isComplete: boolean): boolean {
    const { automaton } = this.#search;
    // State numbers have become invalid.
    if (automaton.generation !== this.#generation) {
      this.#state = automaton.restored(this.#threads);
    }
    if (this.#readOn(isComplete)) return true;
    this.#threads = automaton.threadsOf(this.#state);
    this.#generation = automaton.generation;
    return false;
  }

  /** Returns the decided match. */
  located(): Match {
    const from = this.since;
    const to = this.end;
    // A match that ends after its first possible character starts there: an empty one would have ended before.
    if (to - from <= (this.#search.program.hasAssertions ? 0 : 1)) return { start: from, end: to };
    const { matchBeginnings } = this.#search;
    const start = matchBeginnings.ofEnded(this.text, from, this.beforeOf(from), to);
    return { start: start ?? to, end: to };
  }

  /** Continues while matches are short (see `passShortMatches`), then restarts reading after them. */
  passShort(from: number, isComplete: boolean, mask: string | undefined): PassedText {
    const { text } = this;
    const isHalf = !isComplete && isHighHalf(text.charCodeAt(text.length - 1));
    const length = isHalf ? text.length - 1 : text.length;
    const known = { text, length, ends: this.#ends, isComplete, longest: this.longest };
    const passed = passShortMatches(this.#search, known, from, mask);
    this.restart(passed.to);
    return passed;
  }

  /** Returns the start of the first unfinished match. */
  earliest(): number {
    const { automaton, matchBeginnings } = this.#search;
    const [first] = automaton.threadsOf(this.#state).places;
    if (first === undefined) return this.located().start;
    const { text, since, read } = this;
    return matchBeginnings.ofThread(text, since, this.beforeOf(since), read, first) ?? read;
  }

  /** Restarts reading the held text at a place. */
  restart(from: number): void {
    const { automaton } = this.#search;
    this.read = from;
    this.since = from;
    this.end = -1;
    this.#state = automaton.initial(this.beforeOf(from));
    this.#generation = automaton.generation;
  }

  /** Discards the text before a place. */
  forget(to: number): void {
    if (to > 0) this.previous = this.text.charAt(to - 1);
    if (this.optional > 0) this.optional -= countOptional(this.text.slice(0, to));
    this.text = this.text.slice(to);
    this.read -= to;
    this.since -= to;
    if (this.end >= 0) this.end -= to;
    this.#futileTo = 0;
    this.#ends.forget();
  }

  /** Returns the neighbor before a place. */
  beforeOf(at: number): Neighbor {
    const { program } = this.#search;
    if (at > 0) return beforeOf(this.text.charCodeAt(at - 1), program);
    return this.previous === "" ? NO_TEXT : beforeOf(this.previous.charCodeAt(0), program);
  }

  #readOn(isComplete: boolean): boolean {
    const { automaton, walk, leavesIdle, beginnings } = this.#search;
    const { longest } = this;
    const text = this.text;
    const ends = this.#ends;
    const { length } = text;
    const { generation } = automaton;
    const futileState = this.#futileState;
    const futileFrom = this.#futileFrom;
    let futileTo = this.#futileGeneration === generation ? this.#futileTo : 0;
    let at = this.read;
    let state = this.#state;
    let end = this.end;
    let lookahead = end < 0 ? length : end + longest;
    let isSettled = false;
    // Place where the state was entered.
    let since = at;
    const walkFrom = at + 8;
    while (at < length) {
      // Nothing was found before in this range and state.
      if (state === futileState && at < futileTo && at >= futileFrom && end >= 0) {
        since = futileFrom;
        at = Math.min(futileTo, length);
        // More was read than a match may wait for.
        isSettled = at > lookahead + 1;
        if (isSettled) break;
        continue;
      }
      const unit = text.charCodeAt(at);
      if (isIdle(state) && unit < 128 && leavesIdle[unit] === 0) {
        beginnings.lastIndex = at + 1;
        at = beginnings.test(text) ? beginnings.lastIndex - 1 : length;
        state = automaton.initial(this.beforeOf(at));
        continue;
      }
      let next = unit < 128 ? (automaton.ascii[(state >> STATE_BITS) * 128 + unit] ?? 0) : 0;
      let size = 1;
      if (next === 0) {
        // A surrogate half waits for the other one.
        if (isHighHalf(unit) && at + 1 === length && !isComplete) break;
        const codePoint = text.codePointAt(at) ?? unit;
        next = automaton.next(state, codePoint);
        size = codePoint > 0xffff ? 2 : 1;
        if (automaton.generation !== generation) futileTo = 0;
      }
      if (!isIdle(next)) {
        if (isIdle(state)) this.since = at;
        if (endsSurely(next)) {
          const after = at + size;
          const isFollowed = after < length || isComplete;
          if (isFollowed && ends.areBefore(text, next, after, after + longest, isComplete)) {
            end = after;
            isSettled = true;
            break;
          }
        }
        if (hasMatched(next)) {
          end = at;
          lookahead = at + longest;
        } else if (
          hasMatched(state) &&
          !endsSurely(next) &&
          ends.areBefore(text, next, at + size, lookahead, isComplete)
        ) {
          isSettled = true;
          break;
        }
        if (isDead(next) || at > lookahead) {
          isSettled = true;
          if (next === state) at = this.#unchangedTo(state, at + 1);
          break;
        }
      }
      if (next !== state) since = at + size;
      state = next;
      at += size;
      if (at < walkFrom || isIdle(state) || length - at < MIN_WALK) continue;
      walk.at = at;
      walk.state = state;
      walk.since = since;
      walk.end = end;
      walk.read(text, automaton.ascii, longest, futileTo);
      at = walk.at;
      state = walk.state;
      since = walk.since;
      end = walk.end;
      if (end >= 0) lookahead = end + longest;
    }
    // A short range is read again quickly; it must not replace a long one.
    if ((isSettled || isComplete) && !hasMatched(state) && at - since >= MIN_WALK) {
      this.#futileState = state;
      this.#futileFrom = since;
      this.#futileTo = at;
      this.#futileGeneration = automaton.generation;
    }
    this.read = at;
    this.#state = state;
    this.end = end;
    if (isSettled || !isComplete) return isSettled;
    if (isIdle(state)) this.since = at;
    if (hasMatched(automaton.next(state, TEXT_END))) this.end = length;
    return this.end >= 0 && this.since < length;
  }

  /**
   * Returns the place up to which the state stays the same, at most the length of a match, so that each place is read only
   * once for it.
   */
  #unchangedTo(state: number, from: number): number {
    const { automaton } = this.#search;
    const { ascii } = automaton;
    const text = this.text;
    const row = (state >> STATE_BITS) * 128;
    const limit = Math.min(text.length, from + this.longest);
    let at = from;
    while (at < limit) {
      const unit = text.charCodeAt(at);
      if (unit >= 128 || ascii[row + unit] !== state) break;
      at += 1;
    }
    return at;
  }
}

/** Maximum number of optional characters that may lengthen a match. */
export const MAX_OPTIONAL = 1_024;

/** Length from which the short loop is worth its call. */
const MIN_WALK = 32;
