/**
 * Functions that read and edit JSON without parsing it to values: numbers beyond 2^53, unknown fields, white space and
 * escapes remain as they were sent. Every function expects a string that `JSON.parse` has accepted.
 */

import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "./json-characters.ts";
import { isSpace, SHORT_STRING, TOO_DEEP } from "./json-codes.ts";

/** Range of a string: `text.slice(start, end)`. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** One member of an object: its decoded key, and the range of its value. */
export interface Member extends TextRange {
  readonly key: string;
  /** Position of the key's opening quote. */
  readonly keyStart: number;
}

/** A replacement of one range. */
export interface Edit extends TextRange {
  readonly text: string;
}

/** Returns the position of the first character from `at` on that is not white space. */
export function skipSpace(text: string, at: number): number {
  let i = at;
  while (isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** Whether the value at `at` is an object. */
export function isObjectAt(text: string, at: number): boolean {
  return text.charCodeAt(at) === OPEN_BRACE;
}

/** Whether the value at `at` is an array. */
export function isArrayAt(text: string, at: number): boolean {
  return text.charCodeAt(at) === OPEN_BRACKET;
}

/** Returns the members of the object that starts at `at`, in order, including repeated keys. */
export function objectMembers(text: string, at: number): Member[] {
  const members: Member[] = [];
  let i = skipSpace(text, at + 1);
  while (i < text.length && text.charCodeAt(i) !== CLOSE_BRACE) {
    const keyEnd = endOfString(text, i);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    members.push({ key: stringOf(text, { start: i, end: keyEnd }), keyStart: i, start, end });
    i = nextItem(text, end);
  }
  return members;
}

/**
 * Returns the members with this name of all objects, at any depth, except for those inside of such a member. Reads the text once
 * and does not recurse, because the sender chooses the depth.
 */
export function membersNamed(text: string, name: string): Member[] {
  const members: Member[] = [];
  let i = text.indexOf('"');
  while (i !== -1) {
    const keyEnd = endOfString(text, i);
    const colon = skipSpace(text, keyEnd);
    let next = keyEnd;
    // Only keys are followed by a colon.
    if (text.charCodeAt(colon) === COLON && stringOf(text, { start: i, end: keyEnd }) === name) {
      const start = skipSpace(text, colon + 1);
      next = endOfValue(text, start);
      members.push({ key: name, keyStart: i, start, end: next });
    }
    i = text.indexOf('"', next);
  }
  return members;
}

/** Returns the elements of the array that starts at `at`. */
export function elementsOf(text: string, at: number): TextRange[] {
  const elements: TextRange[] = [];
  let i = skipSpace(text, at + 1);
  while (i < text.length && text.charCodeAt(i) !== CLOSE_BRACKET) {
    const end = endOfValue(text, i);
    elements.push({ start: i, end });
    i = nextItem(text, end);
  }
  return elements;
}

/**
 * Whether any object, at any depth, repeats a key: readers differ on which value counts. `formOf` maps keys to the form in
 * which they are compared.
 */
export function hasRepeatedKey(text: string, formOf = (key: string) => key): boolean {
  const open: (SeenKeys | undefined)[] = [];
  let isKey = false;
  let i = 0;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfString(text, i);
      const keys = isKey ? open.at(-1) : undefined;
      if (keys !== undefined) {
        const key = formOf(stringOf(text, { start: i, end }));
        if (keys.hasOrAdds(key)) return true;
      }
      isKey = false;
      i = end;
      continue;
    }
    if (code === OPEN_BRACE) open.push(new SeenKeys());
    else if (code === OPEN_BRACKET) open.push(undefined);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open.pop();
    if (code === OPEN_BRACE || code === COMMA) isKey = open.at(-1) !== undefined;
    i++;
  }
  return false;
}

/** Keys of one object. Most objects have few keys, which are compared faster than hashed. */
class SeenKeys {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** Whether a key was seen before; records it. */
  hasOrAdds(key: string): boolean {
    const few = this.#few;
    if (this.#many === undefined) {
      if (few.includes(key)) return true;
      few.push(key);
      if (few.length === MAX_FEW) this.#many = new Set(few);
      return false;
    }
    const { size } = this.#many;
    return this.#many.add(key).size === size;
  }
}

/** Number of keys from which hashing is faster. */
const MAX_FEW = 12;

/**
 * Returns the decoded string of a range; `undefined` if the value has another type. Long-lived use is safe: the result does
 * not hold the whole source string in memory.
 */
export function stringAt(text: string, span: TextRange | undefined): string | undefined {
  if (span === undefined || text.charCodeAt(span.start) !== QUOTE) return undefined;
  return stringOf(text, span, MAX_COPIED);
}

/** Returns a copy of a substring that does not hold the source string in memory, as V8's slices do. */
export function ownText(part: string): string {
  return part.length <= MAX_COPIED ? part : Buffer.from(part).toString();
}

/** Maximum length of substrings that V8 copies instead of slicing. */
const MAX_COPIED = 12;

/** Applies edits, in any order. Edits must not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const ordered = edits.length === 1 ? edits : edits.toSorted((a, b) => a.start - b.start);
  let result = "";
  let from = 0;
  for (const edit of ordered) {
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + text.slice(from);
}

/**
 * Replaces line breaks with blanks. JSON allows line breaks between tokens only (RFC 8259 section 7), so the value is
 * unchanged.
 */
export function onOneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}

/**
 * Returns the decoded string of a range. Strings longer than `maxPart` are copied, so that they do not hold the source
 * string in memory.
 */
export function stringOf(
  text: string,
  span: TextRange,
  maxPart = Number.POSITIVE_INFINITY,
): string {
  const inner = text.slice(span.start + 1, span.end - 1);
  if (inner.length <= maxPart && !inner.includes("\\")) return inner;
  // JSON.parse returns a string for a string token.
  return JSON.parse(text.slice(span.start, span.end)) as string;
}

/** Returns the start of the next member or element after one that ends at `end`, or the position of the closing bracket. */
function nextItem(text: string, end: number): number {
  const i = skipSpace(text, end);
  return text.charCodeAt(i) === COMMA ? skipSpace(text, i + 1) : i;
}

/** Returns the position after the value at `at`, or TOO_DEEP if it nests more than `maxDepth` objects and lists. */
export function endOfValue(text: string, at: number, maxDepth = Number.POSITIVE_INFINITY): number {
  const code = text.charCodeAt(at);
  if (code === QUOTE) return endOfString(text, at);
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return endOfContainer(text, at, maxDepth);
  return endOfScalar(text, at);
}

/**
 * Returns the end of the string at `at`. Finds the closing quote of long strings with `indexOf`, which compares many
 * characters at once.
 */
export function endOfString(text: string, at: number): number {
  const short = Math.min(text.length, at + SHORT_STRING);
  for (let i = at + 1; i < short; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i + 1;
    if (code === BACKSLASH) break;
  }
  let end = text.indexOf('"', at + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end + 1;
}

/** Whether an odd number of backslashes precedes a character of a string. */
function isEscaped(text: string, at: number): boolean {
  let i = at;
  while (text.charCodeAt(i - 1) === BACKSLASH) i--;
  return (at - i) % 2 === 1;
}

/** Returns the end of an object or list. Counts brackets instead of recursing, because the sender chooses the depth. */
function endOfContainer(text: string, at: number, maxDepth: number): number {
  let depth = 0;
  let i = at;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(text, i);
      continue;
    }
    i++;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > maxDepth) return TOO_DEEP;
    } else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return i;
  }
  return text.length;
}

function endOfScalar(text: string, at: number): number {
  let i = at;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || isSpace(code)) break;
    i++;
  }
  return i;
}
