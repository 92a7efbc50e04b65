import { countOptional } from "./ambiguous-character.ts";
import {
  DECIDING_BITS,
  endsSurely,
  hasMatched,
  isDead,
  isIdle,
  type Threads,
} from "./automaton.ts";
import { ComingEnds } from "./coming-ends.ts";
import { type Beside, beforeOf, NO_TEXT, OTHER_CHARACTER, TEXT_END } from "./pattern-program.ts";
import { isHighHalf } from "./reading.ts";
import type { Search } from "./search.ts";
import { type PassedText, passShortMatches } from "./short-matches.ts";
import { STATE_BITS } from "./state-table.ts";

/** A match: `text.slice(start, end)`. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/** Reads a text that comes in pieces from match to match; each character once, but what was read behind a match. */
export class MatchReader {
  readonly #search: Search;
  /** What of the text is not forgotten: places are counted from its beginning. */
  text = "";
  /** What stands before it; "": the text begins there. */
  previous: string;
  /** Up to where it was read. */
  read = 0;
  /** Where the first match may have begun that has not come to its end. */
  since = 0;
  /** Where a match ended, which may go on; -1: there is none. */
  end = -1;
  #state: number;
  /** What the state stands for, where states have other numbers by now. */
  #threads: Threads;
  #generation: number;
  /** Where a match that could have gone on did not, in one state from one place to another: it is not read again. */
  #vainState = 0;
  #vainFrom = 0;
  #vainTo = 0;
  /** States had these numbers then. */
  #vainGeneration = 0;
  readonly #ends: ComingEnds;
  /** How many characters of the text may be nothing. */
  optional = 0;

  /** `previous`: the character before the text; "": it begins there. */
  constructor(search: Search, previous: string) {
    this.#search = search;
    this.previous = previous;
    this.#ends = new ComingEnds(search.automaton);
    const { automaton } = search;
    this.#state = automaton.initial(this.beforeOf(0));
    this.#threads = automaton.threadsOf(this.#state);
    this.#generation = automaton.generation;
  }

  /** No match has begun in what was read. */
  get isIdle(): boolean {
    return isIdle(this.#state);
  }

  /** Nothing of the text is held, and no match has begun in it. */
  get isAtRest(): boolean {
    return this.text === "" && this.end < 0 && this.isIdle;
  }

  /** Passes over a text, where nothing is held, in which somebody else has found no match to begin. `last`: its last character. */
  passOver(last: string): void {
    const { automaton } = this.#search;
    this.previous = last;
    this.#state = automaton.initial(this.beforeOf(0));
    this.#threads = automaton.threadsOf(this.#state);
    this.#generation = automaton.generation;
  }

  /** Units of the longest match, with what of the text may be nothing. */
  get longest(): number {
    return this.#search.settings.longest + Math.min(this.optional, MAX_OPTIONAL);
  }

  /** The text goes on. `isAmbiguous`: some of it may be nothing. */
  append(text: string, isAmbiguous: boolean): void {
    this.text += text;
    if (isAmbiguous) this.optional += countOptional(text);
    this.#ends.forget();
  }

  /** Passes over a piece in which no match begins, where nothing is held; false: one may. `beginnings`: what one begins with. */
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
   * Takes a piece in which no match ends, and gives what waits no longer; undefined: it was not taken, as there is something
   * to decide. Most pieces of streams are such ones.
   */
  takePlain(piece: string): string | undefined {
    const { automaton, program, leavesIdle, settings } = this.#search;
    // What stands before each character would have to be asked.
    if (program.asksWords || program.asksLines) return undefined;
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
    this.#vainTo = 0;
    this.#ends.forget();
    this.#state = state;
    this.#threads = automaton.threadsOf(state);
    return whole.slice(0, from);
  }

  /** Reads to where a match is settled, between `since` and `end`: true; or to the end. `isComplete`: nothing comes behind it. */
  next(isComplete: boolean): boolean {
    const { automaton } = this.#search;
    // States have other numbers now.
    if (automaton.generation !== this.#generation) {
      this.#state = automaton.restored(this.#threads);
    }
    if (this.#readOn(isComplete)) return true;
    this.#threads = automaton.threadsOf(this.#state);
    this.#generation = automaton.generation;
    return false;
  }

  /** The match that is settled. */
  located(): Match {
    const from = this.since;
    const to = this.end;
    // What ends behind the first character that a match may begin with began there: an empty one would have before.
    if (to - from <= (this.#search.program.asks ? 0 : 1)) return { start: from, end: to };
    const { matchBeginnings } = this.#search;
    const start = matchBeginnings.ofEnded(this.text, from, this.beforeOf(from), to);
    return { start: start ?? to, end: to };
  }

  /** Goes on as long as matches are short: see `passShortMatches`. What is held is read anew behind them. */
  passShort(from: number, isComplete: boolean, mask: string | undefined): PassedText {
    const { text } = this;
    const isHalf = !isComplete && isHighHalf(text.charCodeAt(text.length - 1));
    const length = isHalf ? text.length - 1 : text.length;
    const known = { text, length, ends: this.#ends, isComplete, longest: this.longest };
    const passed = passShortMatches(this.#search, known, from, mask);
    this.restart(passed.to);
    return passed;
  }

  /** Where the first match begins that has not come to its end. */
  earliest(): number {
    const { automaton, matchBeginnings } = this.#search;
    const [first] = automaton.threadsOf(this.#state).places;
    if (first === undefined) return this.located().start;
    const { text, since, read } = this;
    return matchBeginnings.ofThread(text, since, this.beforeOf(since), read, first) ?? read;
  }

  /** What is held is read anew from here. */
  restart(from: number): void {
    const { automaton } = this.#search;
    this.read = from;
    this.since = from;
    this.end = -1;
    this.#state = automaton.initial(this.beforeOf(from));
    this.#generation = automaton.generation;
  }

  /** Forgets what lies before a place. */
  forget(to: number): void {
    if (to > 0) this.previous = this.text.charAt(to - 1);
    if (this.optional > 0) this.optional -= countOptional(this.text.slice(0, to));
    this.text = this.text.slice(to);
    this.read -= to;
    this.since -= to;
    if (this.end >= 0) this.end -= to;
    this.#vainTo = 0;
    this.#ends.forget();
  }

  /** What stands before a place. */
  beforeOf(at: number): Beside {
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
    const vainState = this.#vainState;
    const vainFrom = this.#vainFrom;
    let vainTo = this.#vainGeneration === generation ? this.#vainTo : 0;
    let at = this.read;
    let state = this.#state;
    let end = this.end;
    let lookahead = end < 0 ? length : end + longest;
    let isSettled = false;
    // Where the state became what it is.
    let since = at;
    const walkFrom = at + 8;
    while (at < length) {
      // From here on in this state nothing was found before.
      if (state === vainState && at < vainTo && at >= vainFrom && end >= 0) {
        since = vainFrom;
        at = Math.min(vainTo, length);
        // It was read farther than a match may wait.
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
        // Half of a character waits for the other one.
        if (isHighHalf(unit) && at + 1 === length && !isComplete) break;
        const codePoint = text.codePointAt(at) ?? unit;
        next = automaton.next(state, codePoint);
        size = codePoint > 0xffff ? 2 : 1;
        if (automaton.generation !== generation) vainTo = 0;
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
      if (at < walkFrom || isIdle(state) || length - at < LONG_WAY) continue;
      walk.at = at;
      walk.state = state;
      walk.since = since;
      walk.end = end;
      walk.read(text, automaton.ascii, longest, vainTo);
      at = walk.at;
      state = walk.state;
      since = walk.since;
      end = walk.end;
      if (end >= 0) lookahead = end + longest;
    }
    // A short way is soon read again: what is known of a long one is not forgotten for it.
    if ((isSettled || isComplete) && !hasMatched(state) && at - since >= LONG_WAY) {
      this.#vainState = state;
      this.#vainFrom = since;
      this.#vainTo = at;
      this.#vainGeneration = automaton.generation;
    }
    this.read = at;
    this.#state = state;
    this.end = end;
    if (isSettled || !isComplete) return isSettled;
    if (isIdle(state)) this.since = at;
    if (hasMatched(automaton.next(state, TEXT_END))) this.end = length;
    return this.end >= 0 && this.since < length;
  }

  /** Up to where a state stays what it is: as far as a match may wait, so that each place is read for it only once. */
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

/** So many characters that are perhaps nothing may make a match longer. */
export const MAX_OPTIONAL = 1_024;

/** From so many characters on the short loop is worth its call. */
const LONG_WAY = 32;
