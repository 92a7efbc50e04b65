import { spokenForms } from "./ambiguous-character.ts";
import { MAX_OPTIONAL, MatchReader } from "./match-reader.ts";
import { isHighHalf, isPlain, type Reading, withoutOptional } from "./reading.ts";
import type { Search } from "./search.ts";
import { MAX_SHORT } from "./short-matches.ts";
import { WrittenText } from "./written-text.ts";

/**
 * Replaces the matches of one text that comes in pieces: what comes out, put together, does not depend on where the
 * pieces begin and end. A piece waits only while a match may have begun in it, and only the longest one's length.
 */
export class Replacement {
  readonly #search: Search;
  readonly #text: string;
  readonly #onMatch: OnMatch | undefined;
  /** Holds what waits, as it reads where the search looks at that. */
  readonly #reader: MatchReader;
  /** How long the text is, as it is written, before what is held. */
  #passed = 0;
  /** How what is held is written; undefined: as it reads. */
  #written: WrittenText | undefined;
  /** What may read otherwise with the next piece: half of a character, a letter that a mark may follow. */
  #open = "";
  /** Up to where what is held has gone out. */
  #from = 0;
  /** The match that goes on has been replaced: what it grows by is left out. */
  #isReplaced = false;
  /** How many matches there have been. */
  matches = 0;

  /** `text`: what stands in the place of each match. `previous`: the character before the text; absent: it begins there. */
  constructor(search: Search, text: string, onMatch?: OnMatch, previous = "") {
    this.#search = search;
    this.#text = text;
    this.#onMatch = onMatch;
    this.#reader = new MatchReader(search, previous);
  }

  /** Takes a piece, and gives what is decided of the text. */
  push(piece: string): string {
    const { reader } = this.#search;
    if (reader.composes) return this.#pushRead(piece);
    if (this.#open === "" && this.#written === undefined && !this.#isReplaced) {
      const plain = this.#reader.takePlain(piece);
      if (plain !== undefined) {
        this.#passed += plain.length;
        return plain;
      }
    }
    const isFirst = this.#reader.text === "" && this.#open === "" && piece !== "";
    if (isFirst && this.#reader.passes(piece, this.#search.unreadBeginnings)) {
      this.#passed += piece.length;
      return piece;
    }
    if (this.#open !== "" || !isPlain(piece)) return this.#pushRead(piece);
    // Of one that reads as it is written that was asked already.
    return isFirst ? this.#decide(piece, undefined) : this.#push(piece, undefined);
  }

  /** Nothing waits, and no match goes on. */
  get isAtRest(): boolean {
    const isHeld = this.#open !== "" || this.#written !== undefined || this.#isReplaced;
    return !isHeld && this.#reader.isAtRest;
  }

  /** So much of the text has passed while it was at rest, and has no match. `last`: the last character of that. */
  passOver(length: number, last: string): void {
    this.#passed += length;
    this.#reader.passOver(last);
  }

  /** What came and is not decided, as it is written. */
  get waiting(): string {
    return (this.#written?.text ?? this.#reader.text) + this.#open;
  }

  /** The character before that; "": it stands at the beginning. */
  get before(): string {
    return this.#reader.previous;
  }

  /** Takes a text as a whole. `reading`: how it reads, where the search looks at that. */
  replace(text: string, reading: Reading | undefined): string {
    if (this.#passes(text, reading)) return text;
    this.#hold(text, reading);
    return this.#scan(true) + this.#give(this.#reader.text.length);
  }

  #pushRead(piece: string): string {
    const whole = this.#open + piece;
    const { length } = whole;
    const isHalf = isHighHalf(whole.charCodeAt(length - 1));
    const from = this.#search.reader.openFrom(isHalf ? whole.slice(0, -1) : whole);
    const to = isHalf ? Math.min(from, length - 1) : from;
    this.#open = whole.slice(to);
    const text = whole.slice(0, to);
    return this.#push(text, this.#readingOf(text));
  }

  /** How a piece reads. Where much waits that may be nothing it is nothing: it could hold up a match for ever. */
  #readingOf(piece: string): Reading | undefined {
    const reading = this.#search.reader.readingOf(piece);
    if (reading?.isAmbiguous !== true || this.#reader.optional < MAX_OPTIONAL) return reading;
    return withoutOptional(reading);
  }

  #push(piece: string, reading: Reading | undefined): string {
    return this.#passes(piece, reading) ? piece : this.#decide(piece, reading);
  }

  /** No match begins in the piece, and none has begun. */
  #passes(piece: string, reading: Reading | undefined): boolean {
    const text = reading?.text ?? piece;
    if (this.#reader.text !== "") return false;
    if (text !== "" && !this.#reader.passes(text, this.#search.beginnings)) return false;
    this.#passed += piece.length;
    return true;
  }

  #decide(piece: string, reading: Reading | undefined): string {
    this.#hold(piece, reading);
    const decided = this.#scan(false) + this.#release();
    if (this.#from > 0 || this.#written !== undefined) this.#trim();
    return decided;
  }

  #hold(piece: string, reading: Reading | undefined): void {
    if (reading !== undefined || this.#written !== undefined) {
      this.#written ??= new WrittenText(this.#reader.text);
      this.#written.push(piece, reading);
    }
    this.#reader.append(reading?.text ?? piece, reading?.isAmbiguous === true);
  }

  /** Gives what is left: the text is complete. */
  end(): string {
    const open = this.#open;
    this.#open = "";
    const last = open === "" ? "" : this.#push(open, this.#readingOf(open));
    return last + this.#scan(true) + this.#give(this.#reader.text.length);
  }

  /** Reads on; gives what came before matches, and what replaces them. */
  #scan(isComplete: boolean): string {
    let output = "";
    while (this.#reader.next(isComplete)) output += this.#settle(isComplete);
    return output;
  }

  /** The match that was found is complete. */
  #settle(isComplete: boolean): string {
    const reader = this.#reader;
    if (this.#isReplaced) {
      this.#isReplaced = false;
      this.#skip(reader.end, true);
      reader.restart(reader.end);
      return "";
    }
    const { start, end } = reader.located();
    if (end === start || !this.#isValid(start, end)) {
      const next = start + ((reader.text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
      const given = this.#give(next);
      if (end === start) return given + this.#passShort(next, isComplete);
      reader.restart(next);
      return given;
    }
    const given = this.#give(start);
    this.matches += 1;
    this.#skip(end);
    if (end - start <= MAX_SHORT) return given + this.#text + this.#passShort(end, isComplete);
    reader.restart(end);
    return given + this.#text;
  }

  /** Goes on as long as matches are short. Where more is asked about each of them, it passes over empty ones alone. */
  #passShort(from: number, isComplete: boolean): string {
    const { isValid } = this.#search.settings;
    const isReplacedAtOnce =
      this.#written === undefined && isValid === undefined && this.#onMatch === undefined;
    const mask = isReplacedAtOnce ? this.#text : undefined;
    const { to, matches, output } = this.#reader.passShort(from, isComplete, mask);
    if (mask === undefined) return this.#give(to);
    this.matches += matches;
    this.#from = to;
    return output;
  }

  /** Gives what is held up to a place. */
  #give(to: number): string {
    const from = this.#from;
    this.#from = to;
    return this.#written === undefined ? this.#reader.text.slice(from, to) : this.#written.give(to);
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
    const { text, previous } = this.#reader;
    const before = start === 0 ? previous : text.charAt(start - 1);
    const after = text.charAt(end);
    // Of what may be nothing either counts.
    return spokenForms(text.slice(start, end)).some((form) => isValid(form, before, after));
  }

  /** Gives what no match can hold any more. */
  #release(): string {
    const reader = this.#reader;
    const { longest } = reader;
    if (reader.end >= 0 && reader.read - reader.since > longest) {
      if (!this.#isReplaced) reader.since = reader.earliest();
      if (reader.read - reader.since > longest) return this.#replaceGrowing();
    }
    if (reader.isIdle) reader.since = reader.read;
    reader.since = Math.max(reader.since, reader.read - longest);
    return this.#give(Math.max(this.#from, reader.since));
  }

  /** A match without a bound has a part that is sure: it is replaced, and the rest of it left out as it comes. */
  #replaceGrowing(): string {
    const reader = this.#reader;
    const isFirst = !this.#isReplaced;
    const given = isFirst ? this.#give(reader.since) : "";
    this.#skip(reader.end, !isFirst);
    reader.since = reader.end;
    this.#isReplaced = true;
    if (!isFirst) return "";
    this.matches += 1;
    return given + this.#text;
  }

  #trim(): void {
    const from = this.#from;
    this.#reader.forget(from);
    this.#passed += this.#written?.trim(from, this.#onMatch !== undefined) ?? from;
    if (this.#reader.text === "") this.#written = undefined;
    this.#from = 0;
  }
}

/** A part of a text: `text.slice(from, to)`. */
export interface MatchRange {
  readonly from: number;
  readonly to: number;
}

/** Hears where matches are in a text, as it is written, in order. `isRest`: the match before it goes on there. */
export type OnMatch = (range: MatchRange, isRest: boolean) => void;
