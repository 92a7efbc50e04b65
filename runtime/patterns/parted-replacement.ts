import { type MatchRange, type OnMatch, Replacement } from "./replacement.ts";
import type { Search } from "./search.ts";

/**
 * Replaces the matches of a text whose parts each arrive in pieces, within the part that contains them. Output is a list of
 * strings: the first belongs to the first part that still waits, each further one to the part after it.
 */
export class PartedReplacement {
  readonly #replacement: Replacement;
  readonly #text: string;
  readonly #search: Search;
  #ranges: FoundRange[] = [];
  /** Number of matches at the time of the last release. */
  #released = 0;
  /** Total length of the input, in UTF-16 units. */
  #length = 0;
  /** Place up to which the text was returned; only maintained while text has to be divided. */
  #given = 0;
  /** Waiting text that may have to be divided; `undefined` if the replacement holds it. */
  #waiting: string | undefined;
  /** Ends of parts that were not returned yet. */
  #ends: number[] = [];
  /** Start of the part that was returned last, or of the text after the last release. */
  #begin = 0;

  /** `text`: replacement of each match. */
  constructor(search: Search, text: string) {
    this.#search = search;
    this.#text = text;
    this.#replacement = new Replacement(search, text, (range, isRest) => {
      this.#ranges.push({ ...range, isRest });
    });
  }

  /** Length of the waiting text, in UTF-16 units. */
  get held(): number {
    return this.#waiting?.length ?? this.#replacement.waiting.length;
  }

  /** Whether no waiting text may have to be divided. */
  get isWhole(): boolean {
    return this.#waiting === undefined;
  }

  /** Whether nothing waits and no match continues. */
  get isAtRest(): boolean {
    return this.#waiting === undefined && this.#replacement.isAtRest;
  }

  /** Character before the waiting text; empty at the start of the text. */
  get before(): string {
    return this.#replacement.before;
  }

  /** Skips text of the last part that has no match, while this is at rest. `last` is its last character. */
  passOver(length: number, last: string): void {
    this.#length += length;
    this.#replacement.passOver(length, last);
  }

  /** Number of matches so far. */
  get matches(): number {
    return Math.max(this.#released, this.#replacement.matches);
  }

  /** Takes pieces of consecutive parts, starting with the last part. */
  push([first = "", ...others]: readonly string[]): readonly string[] {
    const output = [this.#push([""], first)];
    for (const piece of others) {
      this.#endPart();
      output.push(this.#push(this.#ends.length === 0 ? ["", ""] : [""], piece));
    }
    return output.reduce(joinedLists, [""]);
  }

  /**
   * Returns the waiting text as if the text ended there. If a match has started in it, the rest of that match is replaced,
   * too.
   */
  release(): readonly string[] {
    const { waiting, before, matches } = this.#replacement;
    if (waiting === "") return [""];
    this.#divide();
    const start = this.#length - waiting.length;
    const later = this.#ranges;
    this.#ranges = [...later];
    const note: OnMatch = ({ from, to }, isRest) => {
      this.#ranges.push({ from: start + from, to: start + to, isRest });
    };
    const whole = new Replacement(this.#search, "", note, before);
    whole.replace(waiting, this.#search.reader.readingOf(waiting));
    this.#released = matches + whole.matches;
    const output = this.#give(this.#length);
    this.#ranges = later;
    this.#begin = this.#length;
    return output;
  }

  /** Returns the remaining text at its end. */
  end(): readonly string[] {
    this.#divide();
    this.#replacement.end();
    return this.#give(this.#length);
  }

  /** Takes a piece of the last part while nothing has to be divided, and returns the decided text. */
  pushWhole(piece: string): string {
    this.#length += piece.length;
    const text = this.#replacement.push(piece);
    if (this.#ranges.length === 0) return text;
    // Rest of a match that was replaced in the part before.
    const [first] = this.#ranges;
    this.#ranges = [];
    return first?.isRest === true && first.from === this.#begin ? this.#text + text : text;
  }

  #endPart(): void {
    this.#divide();
    if (this.#given === this.#length) this.#begin = this.#length;
    else this.#ends.push(this.#length);
  }

  /** Marks the waiting text, if any, to be divided from here on. */
  #divide(): void {
    if (this.#waiting !== undefined) return;
    const { waiting } = this.#replacement;
    this.#given = this.#length - waiting.length;
    if (waiting !== "") this.#waiting = waiting;
  }

  #push(before: readonly string[], piece: string): readonly string[] {
    if (this.#waiting === undefined) return joinedLists(before, [this.pushWhole(piece)]);
    this.#length += piece.length;
    this.#waiting += piece;
    this.#replacement.push(piece);
    return joinedLists(before, this.#give(this.#length - this.#replacement.waiting.length));
  }

  /** Returns the text before a place, in which all matches are known. */
  #give(to: number): readonly string[] {
    const output = [""];
    const start = this.#given;
    const waiting = this.#waiting ?? "";
    let at = start;
    const write = (text: string) => {
      output[output.length - 1] += text;
    };
    while (at < to) {
      const range = this.#ranges[0];
      if (range !== undefined && range.to <= at) {
        this.#ranges.shift();
        continue;
      }
      const end = Math.min(to, this.#ends[0] ?? to);
      const next = Math.min(
        end,
        range === undefined ? end : range.from > at ? range.from : range.to,
      );
      if (range === undefined || range.from > at) write(waiting.slice(at - start, next - start));
      else if (at === this.#begin || (at === range.from && !range.isRest)) write(this.#text);
      at = next;
      for (; at === this.#ends[0]; this.#ends.shift()) {
        this.#begin = at;
        output.push("");
      }
    }
    this.#given = at;
    const isDivided = this.#ends.length > 0 || this.#length - this.#replacement.waiting.length < at;
    this.#waiting = isDivided ? waiting.slice(at - start) : undefined;
    return output;
  }
}

/** A match, or the continuation of one. */
interface FoundRange extends MatchRange {
  readonly isRest: boolean;
}

/** Joins two lists of parts, where the second starts with the part that the first ends with. */
export function joinedLists(
  first: readonly string[],
  second: readonly string[],
): readonly string[] {
  const last = (first.at(-1) ?? "") + (second[0] ?? "");
  return [...first.slice(0, -1), last, ...second.slice(1)];
}
