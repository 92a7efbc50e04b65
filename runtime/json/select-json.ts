import {
  BACKSLASH,
  CLOSE_BRACE,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  ZERO,
} from "./json-characters.ts";
import {
  afterSpace,
  containerEnd,
  isAt,
  plainStringEnd,
  stringEnd,
  valueEnd,
} from "./json-codes.ts";

/** Which members of an object are wanted: whole (`true`), or some of theirs. Of a list, those of its first element. */
export interface JsonSelection {
  readonly [name: string]: true | JsonSelection | readonly [JsonSelection];
}

/** Reads what is selected of the object that bytes of JSON are; undefined: it is no object to its end. Throws SyntaxError for a selected value. */
export type JsonSelector = (json: Buffer) => Record<string, unknown> | undefined;

/**
 * Makes the reader of a selection. It looks at each byte once: members that nobody wants are passed over, for they may be
 * long, and what stands in them is not judged. Bytes are quicker to look through than text, and most of them are never text.
 */
export function jsonSelector(selection: JsonSelection): JsonSelector {
  const wanted = new Wanted(selection);
  return (json) => {
    const at = afterSpace(json, 0);
    if (json[at] !== OPEN_BRACE) return undefined;
    const selected: Record<string, unknown> = {};
    const end = readMembers(json, at, wanted, selected);
    const isWhole = json[end] === CLOSE_BRACE && afterSpace(json, end + 1) === json.length;
    return isWhole ? selected : undefined;
  };
}

/** One member of a selection. */
interface WantedMember {
  readonly name: string;
  /** As most write it, without its quotes. */
  readonly bytes: Buffer;
  /** What of its value: all, some members, or some members of a list's first element. */
  readonly part: "whole" | "members" | "first";
  readonly members: Wanted;
  /** The word that was read last: a model's name is mostly the same, and comparing is quicker than making a text. */
  word: string;
}

/** The members of a selection, by the lengths of their names: of most others that alone says that nobody wants them. */
class Wanted {
  readonly #byLength: (readonly WantedMember[] | undefined)[] = [];
  readonly #all: readonly WantedMember[];

  constructor(selection: JsonSelection) {
    this.#all = wantedOf(selection);
    for (const { bytes } of this.#all) {
      const { length } = bytes;
      this.#byLength[length] = this.#all.filter((other) => other.bytes.length === length);
    }
  }

  /** The one whose key stands between two places, and has no escapes. */
  plain(json: Buffer, at: number, end: number): WantedMember | undefined {
    const some = this.#byLength[end - at];
    if (some === undefined) return undefined;
    for (let i = 0; i < some.length; i++) {
      const member = some[i];
      if (member !== undefined && isAt(json, at, member.bytes)) return member;
    }
    return undefined;
  }

  named(key: unknown): WantedMember | undefined {
    return this.#all.find(({ name }) => name === key);
  }
}

function wantedOf(selection: JsonSelection): readonly WantedMember[] {
  return Object.entries(selection).map(([name, part]): WantedMember => {
    const bytes = Buffer.from(JSON.stringify(name).slice(1, -1));
    const own = { name, bytes, word: "" };
    if (part === true) return { ...own, part: "whole", members: nothing };
    if (isList(part)) return { ...own, part: "first", members: new Wanted(part[0]) };
    return { ...own, part: "members", members: new Wanted(part) };
  });
}

function isList(part: JsonSelection | readonly [JsonSelection]): part is readonly [JsonSelection] {
  return Array.isArray(part);
}

/** Of a value that is taken as a whole. */
const nothing = new Wanted({});

/** Reads the object at `at`; where its closing brace is. */
function readMembers(
  json: Buffer,
  at: number,
  wanted: Wanted,
  selected: Record<string, unknown>,
): number {
  let i = afterSpace(json, at + 1);
  while (i < json.length && json[i] !== CLOSE_BRACE) {
    const plainEnd = plainStringEnd(json, i);
    const keyEnd = plainEnd === -1 ? stringEnd(json, i) : plainEnd;
    const member =
      plainEnd === -1 ? escapedAt(json, i, keyEnd, wanted) : wanted.plain(json, i + 1, keyEnd - 1);
    const start = afterSpace(json, afterSpace(json, keyEnd) + 1);
    const end =
      member === undefined ? valueEnd(json, start) : readValue(json, start, member, selected);
    i = afterSpace(json, end);
    if (json[i] === COMMA) i = afterSpace(json, i + 1);
  }
  return i;
}

/** What is wanted of a key that may be written with escapes. */
function escapedAt(
  json: Buffer,
  at: number,
  end: number,
  wanted: Wanted,
): WantedMember | undefined {
  // Without an end it is none.
  if (!json.subarray(at, end).includes(BACKSLASH)) return undefined;
  return wanted.named(JSON.parse(json.toString("utf8", at, end)));
}

/** Reads the value of a wanted member; where it ends. */
function readValue(
  json: Buffer,
  start: number,
  member: WantedMember,
  selected: Record<string, unknown>,
): number {
  const { name, part, members } = member;
  if (part === "members" && json[start] === OPEN_BRACE) {
    const some: Record<string, unknown> = {};
    selected[name] = some;
    return readMembers(json, start, members, some) + 1;
  }
  if (part === "first" && json[start] === OPEN_BRACKET) {
    const first = afterSpace(json, start + 1);
    if (json[first] === OPEN_BRACE) {
      const some: Record<string, unknown> = {};
      selected[name] = [some];
      return containerEnd(json, readMembers(json, first, members, some) + 1, 1);
    }
  }
  const end = valueEnd(json, start);
  if (part === "whole") selected[name] = valueAt(json, start, end, member);
  return end;
}

function valueAt(json: Buffer, start: number, end: number, member: WantedMember): unknown {
  const plain = naturalAt(json, start, end) ?? wordAt(json, start, end, member);
  return plain ?? JSON.parse(json.toString("utf8", start, end));
}

/** A string of plain ASCII, as ids and names are; undefined: it is something else. */
function wordAt(
  json: Buffer,
  start: number,
  end: number,
  member: WantedMember,
): string | undefined {
  if (json[start] !== QUOTE || json[end - 1] !== QUOTE || end - start < 2) return undefined;
  if (hasWordAt(json, start + 1, end - 1, member.word)) return member.word;
  for (let i = start + 1; i < end - 1; i++) {
    const code = json[i] ?? 0;
    if (code < 0x20 || code > 0x7e || code === BACKSLASH || code === QUOTE) return undefined;
  }
  member.word = json.toString("latin1", start + 1, end - 1);
  return member.word;
}

/** Whether a word stands between two places. Words that differ, such as ids, mostly do so at their ends. */
function hasWordAt(json: Buffer, from: number, to: number, word: string): boolean {
  if (to - from !== word.length) return false;
  for (let i = word.length - 1; i >= 0; i--) {
    if (json[from + i] !== word.charCodeAt(i)) return false;
  }
  return true;
}

/** A number of few digits alone, as counts are; undefined: it is something else. */
function naturalAt(json: Buffer, start: number, end: number): number | undefined {
  const length = end - start;
  if (length > FEW_DIGITS || (length > 1 && json[start] === ZERO)) return undefined;
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = (json[i] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return length > 0 ? value : undefined;
}

const FEW_DIGITS = 15;
