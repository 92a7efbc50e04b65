import { type MatchRange, type OnMatch, Replacement } from "./replacement.ts";
import type { Search } from "./search.ts";

/**
 * Replaces the matches of a text that comes in parts, each of them in pieces: what of a match lies in a part is replaced
 * there. What it gives is a list: its first text is of the first part of which something waits, each further one of the
 * part behind it.
 */
export class PartedReplacement {
  readonly #replacement: Replacement;
  readonly #text: string;
  readonly #search: Search;
  #ranges: FoundRange[] = [];
  /** How many matches there were when what waited was let go. */
  #released = 0;
  /** How much came, in UTF-16 units. */
  #length = 0;
  /** Up to where it has gone out; of what has not to be divided nobody asks. */
  #given = 0;
  /** What has not gone out, where it may have to be divided; undefined: the replacement holds it. */
  #waiting: string | undefined;
  /** Where parts end that have not gone out. */
  #ends: number[] = [];
  /** Where the part begins of which something went out last, or what came behind what was let go. */
  #begin = 0;

  /** `text`: what stands in the place of each match. */
  constructor(search: Search, text: string) {
    this.#search = search;
    this.#text = text;
    this.#replacement = new Replacement(search, text, (range, isRest) => {
      this.#ranges.push({ ...range, isRest });
    });
  }

  /** How much waits, in UTF-16 units. */
  get held(): number {
    return this.#waiting?.length ?? this.#replacement.waiting.length;
  }

  /** Nothing that waits may have to be divided. */
  get isWhole(): boolean {
    return this.#waiting === undefined;
  }

  /** Nothing waits, and no match goes on. */
  get isAtRest(): boolean {
    return this.#waiting === undefined && this.#replacement.isAtRest;
  }

  /** The character before what waits; "": the text begins there. */
  get before(): string {
    return this.#replacement.before;
  }

  /** So much of the part that came last has passed while it was at rest, and has no match. `last`: the last character of that. */
  passOver(length: number, last: string): void {
    this.#length += length;
    this.#replacement.passOver(length, last);
  }

  /** How many matches there have been. */
  get matches(): number {
    return Math.max(this.#released, this.#replacement.matches);
  }

  /** Takes pieces of parts that stand one behind the other; the first one goes on with the part that came last. */
  push([first = "", ...others]: readonly string[]): readonly string[] {
    const output = [this.#push([""], first)];
    for (const piece of others) {
      this.#endPart();
      output.push(this.#push(this.#ends.length === 0 ? ["", ""] : [""], piece));
    }
    return output.reduce(joinedLists, [""]);
  }

  /** Gives what waits as if the text ended there. A match that has begun in it goes on: the rest of it is replaced, too. */
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

  /** Gives what is left: the text is complete. */
  end(): readonly string[] {
    this.#divide();
    this.#replacement.end();
    return this.#give(this.#length);
  }

  /** Takes a piece of the part that came last, where nothing has to be divided; gives what is decided. */
  pushWhole(piece: string): string {
    this.#length += piece.length;
    const text = this.#replacement.push(piece);
    if (this.#ranges.length === 0) return text;
    // What goes on with a match that was replaced in the part before.
    const [first] = this.#ranges;
    this.#ranges = [];
    return first?.isRest === true && first.from === this.#begin ? this.#text + text : text;
  }

  #endPart(): void {
    this.#divide();
    if (this.#given === this.#length) this.#begin = this.#length;
    else this.#ends.push(this.#length);
  }

  /** What waits has to be divided from here on, if there is something. */
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

  /** Gives what lies before a place: all matches in it are known. */
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

/** A match, or what goes on with one. */
interface FoundRange extends MatchRange {
  readonly isRest: boolean;
}

/** One list of two lists of parts, the second of which begins with the part that the first one ends with. */
export function joinedLists(
  first: readonly string[],
  second: readonly string[],
): readonly string[] {
  const last = (first.at(-1) ?? "") + (second[0] ?? "");
  return [...first.slice(0, -1), last, ...second.slice(1)];
}
