import { hasMatched, isDead, isIdle, type Threads } from "./automaton.ts";
import { type Before, beforeOf, textEnd } from "./pattern-program.ts";
import { isAscii, isHighHalf, type Reading, readingOf } from "./reading.ts";
import type { Search } from "./search.ts";
import { WrittenText } from "./written-text.ts";

/**
 * Replaces the matches of one text that comes in pieces: what comes out, put together, does not depend on where the
 * pieces begin and end. A piece waits only while a match may have begun in it, and only the longest one's length.
 */
export class Replacement {
  readonly #search: Search;
  readonly #text: string;
  readonly #onMatch: OnMatch | undefined;
  /** How long the text is, as it is written, before what is held. */
  #passed = 0;
  /** Before what is held; "" at the beginning. */
  #previous = "";
  /** As it reads, where the search looks at that. */
  #held = "";
  /** How what is held is written; undefined: as it reads. */
  #written: WrittenText | undefined;
  /** The first half of a character whose other half comes with the next piece. */
  #half = "";
  /** Up to where what is held has gone out. */
  #from = 0;
  /** Up to where the automaton has read it. */
  #read = 0;
  #state: number;
  #generation: number;
  #threads: Threads;
  /** Where the first match may have begun that has not come to its end. */
  #since = 0;
  /** Where a match ended, which may go on; -1: there is none. */
  #end = -1;
  /** Where a match that could have gone on did not, in one state from one place to another: it is not read again. */
  #vainState = 0;
  #vainFrom = 0;
  #vainTo = 0;
  /** States had these numbers then. */
  #vainGeneration = 0;
  /** Where what is held has the next of characters that a match ends with. */
  #nextEnds: Map<RegExp, number> | undefined;
  /** The match that goes on has been replaced: what it grows by is left out. */
  #isReplaced = false;
  /** How many matches there have been. */
  matches = 0;

  /** `text`: what stands in the place of each match. `previous`: the character before the text; absent: it begins there. */
  constructor(search: Search, text: string, onMatch?: OnMatch, previous = "") {
    this.#search = search;
    this.#text = text;
    this.#onMatch = onMatch;
    this.#previous = previous;
    const { automaton } = search;
    this.#state = automaton.initial(this.#beforeOf(0));
    this.#threads = automaton.threadsOf(this.#state);
    this.#generation = automaton.generation;
  }

  /** Takes a piece, and gives what is decided of the text. */
  push(piece: string): string {
    const isFirst = this.#held === "" && this.#half === "" && piece !== "";
    if (isFirst && this.#passes(piece, this.#search.unreadBeginnings)) {
      this.#passed += piece.length;
      return piece;
    }
    const isAsItReads = !this.#search.readsText || (this.#half === "" && isAscii(piece));
    return isAsItReads ? this.#push(piece, undefined) : this.#pushRead(piece);
  }

  /** What came and is not decided, as it is written. */
  get waiting(): string {
    return (this.#written?.text ?? this.#held) + this.#half;
  }

  /** The character before that; "": it stands at the beginning. */
  get before(): string {
    return this.#previous;
  }

  /** Takes a text as a whole. `reading`: how it reads, where the search looks at that. */
  replace(text: string, reading: Reading | undefined): string {
    return this.#push(text, reading) + this.end();
  }

  #pushRead(piece: string): string {
    const whole = this.#half + piece;
    this.#half = isHighHalf(whole.charCodeAt(whole.length - 1)) ? whole.slice(-1) : "";
    const text = whole.slice(0, whole.length - this.#half.length);
    return this.#push(text, readingOf(text));
  }

  #push(piece: string, reading: Reading | undefined): string {
    const text = reading?.text ?? piece;
    if (this.#held === "") {
      if (text === "" || this.#passes(text, this.#search.beginnings)) {
        this.#passed += piece.length;
        return piece;
      }
    }
    if (reading !== undefined || this.#written !== undefined) {
      this.#written ??= new WrittenText(this.#held);
      this.#written.push(piece, reading);
    }
    this.#held += text;
    this.#nextEnds = undefined;
    const decided = this.#scan(false) + this.#release();
    if (this.#from > 0 || this.#written !== undefined) this.#trim();
    return decided;
  }

  /** No match begins in the piece. */
  #passes(piece: string, beginnings: RegExp): boolean {
    const { automaton } = this.#search;
    const { generation } = automaton;
    if (generation !== this.#generation || !isIdle(this.#state)) return false;
    beginnings.lastIndex = 0;
    if (beginnings.test(piece)) return false;
    this.#previous = piece.charAt(piece.length - 1);
    this.#state = automaton.initial(this.#beforeOf(0));
    this.#threads = automaton.threadsOf(this.#state);
    return true;
  }

  /** Gives what is left: the text is complete. */
  end(): string {
    const last = this.#half === "" ? "" : this.#push(this.#half, undefined);
    return last + this.#scan(true) + this.#give(this.#held.length);
  }

  /** Reads on; gives what came before matches, and what replaces them. */
  #scan(isComplete: boolean): string {
    const { automaton } = this.#search;
    if (automaton.generation !== this.#generation) this.#forget();
    let output = "";
    while (this.#readOn(isComplete)) output += this.#settle();
    this.#threads = automaton.threadsOf(this.#state);
    this.#generation = automaton.generation;
    return output;
  }

  /** States have other numbers now. */
  #forget(): void {
    this.#state = this.#search.automaton.restored(this.#threads);
  }

  /** Reads to where a match is settled: true; or to the end. */
  #readOn(isComplete: boolean): boolean {
    const { automaton, settings, walk, leavesIdle, beginnings } = this.#search;
    const { longest } = settings;
    const text = this.#held;
    const { length } = text;
    const { generation } = automaton;
    const vainState = this.#vainState;
    const vainFrom = this.#vainFrom;
    let vainTo = this.#vainGeneration === generation ? this.#vainTo : 0;
    let at = this.#read;
    let state = this.#state;
    let end = this.#end;
    let lookahead = end < 0 ? length : end + longest;
    let isSettled = false;
    // Where the state became what it is.
    let since = at;
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
        state = automaton.initial(this.#beforeOf(at));
        continue;
      }
      let next = unit < 128 ? (automaton.ascii[(state >> 3) * 128 + unit] ?? 0) : 0;
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
        if (isIdle(state)) this.#since = at;
        if (hasMatched(next)) {
          end = at;
          lookahead = at + longest;
        } else if (hasMatched(state) && this.#endsBefore(next, at + size, lookahead, isComplete)) {
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
      if (isIdle(state) || length - at < longWay) continue;
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
    if ((isSettled || isComplete) && !hasMatched(state)) {
      this.#vainState = state;
      this.#vainFrom = since;
      this.#vainTo = at;
      this.#vainGeneration = automaton.generation;
    }
    this.#read = at;
    this.#state = state;
    this.#end = end;
    if (isSettled || !isComplete) return isSettled;
    if (isIdle(state)) this.#since = at;
    if (hasMatched(automaton.next(state, textEnd))) this.#end = length;
    return this.#end >= 0 && this.#since < length;
  }

  /** No longer match can be found: what it would have to end with comes later than it may. */
  #endsBefore(state: number, from: number, lookahead: number, isComplete: boolean): boolean {
    const search = this.#search.automaton.lastCharacters(state);
    if (search === null) return false;
    const text = this.#held;
    this.#nextEnds ??= new Map();
    let next = this.#nextEnds.get(search) ?? -1;
    if (next < from) {
      search.lastIndex = from;
      next = search.test(text) ? search.lastIndex - 1 : text.length;
      this.#nextEnds.set(search, next);
    }
    return next > lookahead || (isComplete && next === text.length);
  }

  /** Up to where a state stays what it is: as far as a match may wait, so that each place is read for it only once. */
  #unchangedTo(state: number, from: number): number {
    const { automaton, settings } = this.#search;
    const { ascii } = automaton;
    const text = this.#held;
    const row = (state >> 3) * 128;
    const limit = Math.min(text.length, from + settings.longest);
    let at = from;
    while (at < limit) {
      const unit = text.charCodeAt(at);
      if (unit >= 128 || ascii[row + unit] !== state) break;
      at += 1;
    }
    return at;
  }

  /** The match that was found is complete. */
  #settle(): string {
    if (this.#isReplaced) {
      this.#isReplaced = false;
      this.#skip(this.#end, true);
      this.#restart(this.#end);
      return "";
    }
    const text = this.#held;
    const { start, end } = this.#located();
    if (end === start || !this.#isValid(start, end)) {
      const after = start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
      const given = this.#give(after);
      this.#restart(after);
      return given;
    }
    this.matches += 1;
    const given = this.#give(start);
    this.#skip(end);
    this.#restart(end);
    return given + this.#text;
  }

  /** Gives what is held up to a place. */
  #give(to: number): string {
    const from = this.#from;
    this.#from = to;
    return this.#written === undefined ? this.#held.slice(from, to) : this.#written.give(to);
  }

  /** Leaves out what is held up to a place. */
  #skip(to: number, isRest = false): void {
    const from = this.#written?.given ?? this.#from;
    this.#from = to;
    this.#written?.skip(to);
    if (this.#onMatch === undefined) return;
    const end = this.#written?.given ?? to;
    this.#onMatch({ from: this.#passed + from, to: this.#passed + end }, isRest);
  }

  #isValid(start: number, end: number): boolean {
    const { isValid } = this.#search.settings;
    if (isValid === undefined) return true;
    const text = this.#held;
    const before = start === 0 ? this.#previous : text.charAt(start - 1);
    return isValid(text.slice(start, end), before, text.charAt(end));
  }

  #located() {
    const from = this.#since;
    const to = this.#end;
    // What ends behind the first character that a match may begin with began there.
    if (to - from === 1) return { start: from, end: to };
    const place = { from, before: this.#beforeOf(from), to };
    const { automaton, locator } = this.#search;
    // Most matches begin with the first character that any may begin with.
    if (automaton.beginsAt(this.#held, place)) return { start: from, end: to };
    return locator.find(this.#held, place) ?? { start: to, end: to };
  }

  /** What is held is read anew from here. */
  #restart(from: number): void {
    this.#read = from;
    this.#since = from;
    this.#end = -1;
    this.#state = this.#search.automaton.initial(this.#beforeOf(from));
  }

  /** Gives what no match can hold any more. */
  #release(): string {
    const { longest } = this.#search.settings;
    if (this.#end >= 0 && this.#read - this.#since > longest) {
      if (!this.#isReplaced) this.#since = this.#earliest();
      if (this.#read - this.#since > longest) return this.#replaceGrowing();
    }
    if (isIdle(this.#state)) this.#since = this.#read;
    this.#since = Math.max(this.#since, this.#read - longest);
    return this.#give(Math.max(this.#from, this.#since));
  }

  /** A match without a bound has a part that is sure: it is replaced, and the rest of it left out as it comes. */
  #replaceGrowing(): string {
    const isFirst = !this.#isReplaced;
    const given = isFirst ? this.#give(this.#since) : "";
    this.#skip(this.#end, !isFirst);
    this.#since = this.#end;
    this.#isReplaced = true;
    if (!isFirst) return "";
    this.matches += 1;
    return given + this.#text;
  }

  /** Where the first match begins that has not come to its end. */
  #earliest(): number {
    const from = this.#since;
    const range = { from, before: this.#beforeOf(from), to: this.#read };
    const begun = { ...range, to: this.#read - 1 };
    // Nothing begins before it.
    if (this.#search.automaton.beginsAt(this.#held, begun)) return from;
    return this.#search.locator.earliest(this.#held, range);
  }

  #trim(): void {
    const from = this.#from;
    if (from > 0) this.#previous = this.#held.charAt(from - 1);
    this.#held = this.#held.slice(from);
    this.#passed += this.#written?.trim(from, this.#onMatch !== undefined) ?? from;
    if (this.#held === "") this.#written = undefined;
    this.#read -= from;
    this.#since -= from;
    this.#vainTo = 0;
    this.#nextEnds = undefined;
    if (this.#end >= 0) this.#end -= from;
    this.#from = 0;
  }

  #beforeOf(at: number): Before {
    if (at > 0) return beforeOf(this.#held.charCodeAt(at - 1), this.#search.program);
    if (this.#previous === "") return "start";
    return beforeOf(this.#previous.charCodeAt(0), this.#search.program);
  }
}

/** A part of a text: `text.slice(from, to)`. */
export interface MatchRange {
  readonly from: number;
  readonly to: number;
}

/** Hears where matches are in a text, as it is written, in order. `isRest`: the match before it goes on there. */
export type OnMatch = (range: MatchRange, isRest: boolean) => void;

/** From so many characters on the short loop is worth its call. */
const longWay = 32;
