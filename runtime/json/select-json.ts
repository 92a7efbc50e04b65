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

/**
 * Requested members of an object: whole (`true`), or some of their members. A list in it requests members of the list's
 * first element.
 */
export interface JsonSelection {
  readonly [name: string]: true | JsonSelection | readonly [JsonSelection];
}

/**
 * Reads the requested members of a JSON object; `undefined` if the bytes are not a complete object. Throws SyntaxError for a
 * requested value that is not JSON.
 */
export type JsonSelector = (json: Buffer) => Record<string, unknown> | undefined;

/**
 * Builds a reader for a selection. It reads each byte once and skips other members without validating them, as they may be
 * long. Bytes are faster to scan than a string, and most of them are never decoded.
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
  /** The name as JSON without its quotes, as most senders write it. */
  readonly bytes: Buffer;
  /** Requested part of its value: all, some members, or some members of a list's first element. */
  readonly part: "whole" | "members" | "first";
  readonly members: Wanted;
  /** String that was read last: a model's name rarely changes, and comparing is faster than decoding. */
  word: string;
}

/** Members of a selection, indexed by the lengths of their names: the length alone rules out most other keys. */
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

  /** Returns the member whose key is between two positions and has no escapes. */
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
    if (part === true) return { ...own, part: "whole", members: NOTHING };
    if (isList(part)) return { ...own, part: "first", members: new Wanted(part[0]) };
    return { ...own, part: "members", members: new Wanted(part) };
  });
}

function isList(part: JsonSelection | readonly [JsonSelection]): part is readonly [JsonSelection] {
  return Array.isArray(part);
}

/** Members of a value that is read whole. */
const NOTHING = new Wanted({});

/** Reads the object at `at` and returns the position of its closing brace. */
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

/** Returns the requested member for a key that may be written with escapes. */
function escapedAt(
  json: Buffer,
  at: number,
  end: number,
  wanted: Wanted,
): WantedMember | undefined {
  // A string without an end is no key.
  if (!json.subarray(at, end).includes(BACKSLASH)) return undefined;
  return wanted.named(JSON.parse(json.toString("utf8", at, end)));
}

/** Reads the value of a requested member and returns its end. */
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

/** Returns a string of plain ASCII, as ids and names are; `undefined` for any other value. */
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

/**
 * Whether a word is between two positions. Compares from the end, because different words such as ids mostly differ there.
 */
function hasWordAt(json: Buffer, from: number, to: number, word: string): boolean {
  if (to - from !== word.length) return false;
  for (let i = word.length - 1; i >= 0; i--) {
    if (json[from + i] !== word.charCodeAt(i)) return false;
  }
  return true;
}

/** Returns a number of at most MAX_DIGITS digits, as counts are; `undefined` for any other value. */
function naturalAt(json: Buffer, start: number, end: number): number | undefined {
  const length = end - start;
  if (length > MAX_DIGITS || (length > 1 && json[start] === ZERO)) return undefined;
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = (json[i] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return length > 0 ? value : undefined;
}

const MAX_DIGITS = 15;
