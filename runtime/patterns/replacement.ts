import { possibleForms } from "./ambiguous-character.ts";
import { MAX_OPTIONAL, MatchReader } from "./match-reader.ts";
import { isHighHalf, isPlain, type Reading, withoutOptional } from "./reading.ts";
import type { Search } from "./search.ts";
import { MAX_SHORT } from "./short-matches.ts";
import { WrittenText } from "./written-text.ts";

/**
 * Replaces the matches of one text that arrives in pieces. The joined output does not depend on the boundaries of pieces. A
 * piece waits only while a match may have started in it, and at most for the maximum length of a match.
 */
export class Replacement {
  readonly #search: Search;
  readonly #text: string;
  readonly #onMatch: OnMatch | undefined;
  /** Holds the waiting text, in its reading. */
  readonly #reader: MatchReader;
  /** Length of the text before the held part, as it is written. */
  #passed = 0;
  /** Held text as it is written; `undefined` if that equals its reading. */
  #written: WrittenText | undefined;
  /** End of the text whose reading may change with the next piece: a surrogate half, or a letter that a mark may follow. */
  #open = "";
  /** Place up to which the held text was returned. */
  #from = 0;
  /** Whether the continuing match has been replaced already, so that its continuation is dropped. */
  #isReplaced = false;
  /** Number of matches so far. */
  matches = 0;

  /** `text`: replacement of each match. `previous`: the character before the text; empty if the text starts here. */
  constructor(search: Search, text: string, onMatch?: OnMatch, previous = "") {
    this.#search = search;
    this.#text = text;
    this.#onMatch = onMatch;
    this.#reader = new MatchReader(search, previous);
  }

  /** Takes a piece, and returns the decided text. */
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
    // A first piece that is read as it is written was already checked above.
    return isFirst ? this.#decide(piece, undefined) : this.#push(piece, undefined);
  }

  /** Whether nothing waits and no match continues. */
  get isAtRest(): boolean {
    const isHeld = this.#open !== "" || this.#written !== undefined || this.#isReplaced;
    return !isHeld && this.#reader.isAtRest;
  }

  /** Skips text that has no match, while this is at rest. `last` is its last character. */
  passOver(length: number, last: string): void {
    this.#passed += length;
    this.#reader.passOver(last);
  }

  /** Input that is not decided, as it is written. */
  get waiting(): string {
    return (this.#written?.text ?? this.#reader.text) + this.#open;
  }

  /** Character before the waiting text; empty at the start of the text. */
  get before(): string {
    return this.#reader.previous;
  }

  /** Replaces all matches of a whole text. `reading` is its reading, where that differs. */
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

  /**
   * Returns the reading of a piece. While many optional characters wait, further ones are read as nothing: otherwise they
   * could delay a match forever.
   */
  #readingOf(piece: string): Reading | undefined {
    const reading = this.#search.reader.readingOf(piece);
    if (reading?.isAmbiguous !== true || this.#reader.optional < MAX_OPTIONAL) return reading;
    return withoutOptional(reading);
  }

  #push(piece: string, reading: Reading | undefined): string {
    return this.#passes(piece, reading) ? piece : this.#decide(piece, reading);
  }

  /** Whether no match starts in the piece, and none has started before. */
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

  /** Returns the remaining text at its end. */
  end(): string {
    const open = this.#open;
    this.#open = "";
    const last = open === "" ? "" : this.#push(open, this.#readingOf(open));
    return last + this.#scan(true) + this.#give(this.#reader.text.length);
  }

  /** Reads on. Returns the text before matches, and their replacements. */
  #scan(isComplete: boolean): string {
    let output = "";
    while (this.#reader.next(isComplete)) output += this.#settle(isComplete);
    return output;
  }

  /** Handles a decided match. */
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

  /** Continues while matches are short. If matches must be checked or reported one by one, only skips empty ones. */
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

  /** Returns the held text up to a place. */
  #give(to: number): string {
    const from = this.#from;
    this.#from = to;
    return this.#written === undefined ? this.#reader.text.slice(from, to) : this.#written.give(to);
  }

  /** Drops the held text up to a place. */
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
    // A match counts if one of its possible forms is valid.
    return possibleForms(text.slice(start, end)).some((form) => isValid(form, before, after));
  }

  /** Returns the held text that no match can include any more. */
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

  /** Replaces the certain part of a match of unbounded length. The rest is dropped as it arrives. */
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

/** A range of a text: `text.slice(from, to)`. */
export interface MatchRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Receives the ranges of matches in a text, as it is written, in order. `isRest`: the range continues the match before it.
 */
export type OnMatch = (range: MatchRange, isRest: boolean) => void;
