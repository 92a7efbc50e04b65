import {
  BACKSLASH,
  CLOSE_BRACE,
  COLON,
  COMMA,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  ZERO,
} from "./json-characters.ts";
import { endOfString, type Member, skipSpace, stringOf } from "./json-text.ts";

/** A member of a scanned object. */
export interface ScannedMember extends Member {
  /** Members of its value, if that is an object whose members were requested. */
  readonly members: readonly ScannedMember[] | undefined;
}

/** A member whose own members are requested too, if it is an object. */
export interface WantedMember {
  readonly name: string;
  /** Members of it whose members are requested in the same way. */
  readonly members: readonly WantedMember[];
}

/**
 * Validates a string as JSON (RFC 8259) and locates the members of its outermost object, in one pass. Returns no members for
 * values that are not objects, and `undefined` for invalid JSON.
 */
export function scanJson(
  text: string,
  wanted: readonly WantedMember[],
): readonly ScannedMember[] | undefined {
  const start = skipSpace(text, 0);
  const members: ScannedMember[] = [];
  const isObject = text.charCodeAt(start) === OPEN_BRACE;
  const end = isObject ? endOfObject(text, start, wanted, members) : endOfAny(text, start);
  return end !== NOT_JSON && skipSpace(text, end) === text.length ? members : undefined;
}

/** Difference between the codes of `{` and `}`, and of `[` and `]`. */
const TO_CLOSING = 2;

/** Result instead of an end position if the string is not JSON. */
const NOT_JSON = -1;

/**
 * Returns the end of the object at `at` and adds its members to `members`. Recursion is bounded by the depth of `wanted`.
 */
function endOfObject(
  text: string,
  at: number,
  wanted: readonly WantedMember[],
  members: ScannedMember[],
): number {
  let i = skipSpace(text, at + 1);
  if (text.charCodeAt(i) === CLOSE_BRACE) return i + 1;
  for (;;) {
    const plainEnd = endOfPlainString(text, i);
    const keyEnd = plainEnd === NOT_PLAIN ? endOfJsonString(text, i) : plainEnd;
    if (keyEnd === NOT_JSON) return NOT_JSON;
    const start = startOfValue(text, keyEnd);
    if (start === NOT_JSON) return NOT_JSON;
    const key =
      plainEnd === NOT_PLAIN
        ? stringOf(text, { start: i, end: keyEnd })
        : text.slice(i + 1, plainEnd - 1);
    const inside = text.charCodeAt(start) === OPEN_BRACE ? wantedOf(wanted, key) : undefined;
    const own: ScannedMember[] | undefined = inside && [];
    const end =
      own === undefined || inside === undefined
        ? endOfAny(text, start)
        : endOfObject(text, start, inside, own);
    if (end === NOT_JSON) return NOT_JSON;
    members.push({ key, keyStart: i, start, end, members: own });
    i = skipSpace(text, end);
    const next = text.charCodeAt(i);
    if (next === CLOSE_BRACE) return i + 1;
    if (next !== COMMA) return NOT_JSON;
    i = skipSpace(text, i + 1);
  }
}

function wantedOf(
  wanted: readonly WantedMember[],
  key: string,
): readonly WantedMember[] | undefined {
  for (const { name, members } of wanted) if (name === key) return members;
  return undefined;
}

/** Returns the start of the value after a key. */
function startOfValue(text: string, keyEnd: number): number {
  const i = skipSpace(text, keyEnd);
  return text.charCodeAt(i) === COLON ? skipSpace(text, i + 1) : NOT_JSON;
}

/**
 * Returns the end of the value at `at`. Uses a stack of its own instead of recursion, because the sender chooses the depth.
 */
function endOfAny(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfScalar(text, at);
  /** Closing brackets of the open objects and lists. */
  const open: number[] = [];
  let i = at;
  for (;;) {
    const code = text.charCodeAt(i);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      const close = code + TO_CLOSING;
      i = skipSpace(text, i + 1);
      if (text.charCodeAt(i) === close) i++;
      else {
        open.push(close);
        if (code === OPEN_BRACE) i = valueOfMember(text, i);
        if (i === NOT_JSON) return NOT_JSON;
        continue;
      }
    } else i = endOfScalar(text, i);
    if (i === NOT_JSON) return NOT_JSON;
    i = nextValue(text, i, open);
    if (i === NOT_JSON || open.length === 0) return i;
  }
}

/**
 * Returns the start of the next value after one that ends at `end`, and closes the containers that end in between. If none
 * remains open, returns the end of the outermost one.
 */
function nextValue(text: string, end: number, open: number[]): number {
  let i = end;
  while (open.length > 0) {
    i = skipSpace(text, i);
    const close = open[open.length - 1];
    const code = text.charCodeAt(i);
    if (code === COMMA) {
      i = skipSpace(text, i + 1);
      return close === CLOSE_BRACE ? valueOfMember(text, i) : i;
    }
    if (code !== close) return NOT_JSON;
    open.pop();
    i++;
  }
  return i;
}

/** Returns the start of the value of the member at `at`. */
function valueOfMember(text: string, at: number): number {
  const keyEnd = endOfJsonString(text, at);
  return keyEnd === NOT_JSON ? NOT_JSON : startOfValue(text, keyEnd);
}

function endOfScalar(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case QUOTE:
      return endOfJsonString(text, at);
    case 0x74:
      return endOfWord(text, at, "true");
    case 0x66:
      return endOfWord(text, at, "false");
    case 0x6e:
      return endOfWord(text, at, "null");
    default:
      return endOfNumber(text, at);
  }
}

function endOfWord(text: string, at: number, word: string): number {
  return text.startsWith(word, at) ? at + word.length : NOT_JSON;
}

/** Result instead of the end of a string that has escapes, is long, or is not a string. */
const NOT_PLAIN = -2;

/** Returns the end of a string without escapes, as nearly every key is. */
function endOfPlainString(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) return NOT_PLAIN;
  for (let i = at + 1; i < at + SHORT_STRING; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i + 1;
    if (code === BACKSLASH || !(code >= 0x20)) return NOT_PLAIN;
  }
  return NOT_PLAIN;
}

function endOfJsonString(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) return NOT_JSON;
  let i = at + 1;
  while (i < at + SHORT_STRING) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i + 1;
    if (code === BACKSLASH) {
      i = endOfEscape(text, i + 1);
      if (i === NOT_JSON) return NOT_JSON;
    } else if (code >= 0x20) i++;
    // A control character, or the end of the string.
    else return NOT_JSON;
  }
  return endOfLongString(text, at);
}

/** Length from which the engine's own parser validates strings faster. */
const SHORT_STRING = 256;

function endOfLongString(text: string, at: number): number {
  const end = endOfString(text, at);
  try {
    JSON.parse(text.slice(at, end));
    return end;
  } catch {
    return NOT_JSON;
  }
}

/** Returns the end of the escape sequence whose backslash is before `at`. */
function endOfEscape(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 1;
    case 0x75: // u
      for (let i = at + 1; i < at + 5; i++) if (!isHex(text.charCodeAt(i))) return NOT_JSON;
      return at + 5;
    default:
      return NOT_JSON;
  }
}

function isHex(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

const MINUS = 0x2d;
const PLUS = 0x2b;

function endOfNumber(text: string, at: number): number {
  let i = text.charCodeAt(at) === MINUS ? at + 1 : at;
  i = text.charCodeAt(i) === ZERO ? i + 1 : endOfDigits(text, i);
  if (i === NOT_JSON) return NOT_JSON;
  if (text.charCodeAt(i) === 0x2e) i = endOfDigits(text, i + 1);
  if (i === NOT_JSON) return NOT_JSON;
  const exponent = text.charCodeAt(i);
  if (exponent !== 0x65 && exponent !== 0x45) return i;
  const sign = text.charCodeAt(i + 1);
  return endOfDigits(text, sign === MINUS || sign === PLUS ? i + 2 : i + 1);
}

/** Returns the end of a run of at least one digit at `at`. */
function endOfDigits(text: string, at: number): number {
  let i = at;
  while (isDigit(text.charCodeAt(i))) i++;
  return i === at ? NOT_JSON : i;
}
