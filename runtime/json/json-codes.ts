import { endianness } from "node:os";
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "./json-characters.ts";

/**
 * JSON as numbers: its bytes, or its UTF-16 units. Engines read numbers from memory in half the time that characters of a
 * string take. The content may be invalid JSON; each function documents what it expects.
 */
export type JsonCodes = Uint8Array | Uint16Array;

/** Returns the codes of a string, one per character of it. `bytes` is its UTF-8. */
export function codesOf(text: string, bytes: Uint8Array): JsonCodes {
  if (text.length === bytes.length) return bytes;
  const units = Buffer.from(text, "utf16le");
  if (endianness() === "BE") units.swap16();
  return new Uint16Array(units.buffer, units.byteOffset, text.length);
}

/** Returns the position of the first code from `at` on that is not white space. */
export function afterSpace(json: JsonCodes, at: number): number {
  let i = at;
  while (i < json.length && isSpace(json[i])) i++;
  return i;
}

/** Result instead of an end position if the value is nested too deeply. */
export const TOO_DEEP = -1;

/** Returns the position after the value at `at`, or TOO_DEEP if it nests more than `maxDepth` objects and lists. */
export function valueEnd(
  json: JsonCodes,
  at: number,
  maxDepth: number = Number.POSITIVE_INFINITY,
): number {
  const code = json[at];
  if (code === QUOTE) return stringEnd(json, at);
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return containerEnd(json, at, 0, maxDepth);
  let i = at;
  while (i < json.length) {
    const code = json[i];
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || isSpace(code)) break;
    i++;
  }
  return i;
}

/** Returns the end of a string without escapes, as nearly every key is; -1 if it has escapes or no end. */
export function plainStringEnd(json: JsonCodes, at: number): number {
  for (let i = at + 1; i < json.length; i++) {
    const code = json[i];
    if (code === QUOTE) return i + 1;
    if (code === BACKSLASH) return -1;
  }
  return -1;
}

/** Maximum length of strings that are searched code by code; for longer ones, `indexOf` pays off its setup cost. */
export const SHORT_STRING = 24;

/**
 * Returns the end of the string at `at`. Finds the closing quote of long strings with `indexOf`, which compares many codes
 * at once.
 */
export function stringEnd(json: JsonCodes, at: number): number {
  const short = Math.min(json.length, at + SHORT_STRING);
  for (let i = at + 1; i < short; i++) {
    const code = json[i];
    if (code === QUOTE) return i + 1;
    if (code === BACKSLASH) break;
  }
  let end = json.indexOf(QUOTE, at + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf(QUOTE, end + 1);
  return end === -1 ? json.length : end + 1;
}

/**
 * Returns the end of an object or list. Counts brackets instead of recursing, because the sender chooses the depth. `open`
 * is the number of brackets that are open before `at`.
 */
export function containerEnd(
  json: JsonCodes,
  at: number,
  open: number,
  maxDepth: number = Number.POSITIVE_INFINITY,
): number {
  const { length } = json;
  let depth = open;
  let i = at;
  while (i < length) {
    const code = json[i];
    if (code === QUOTE) {
      i = stringEnd(json, i);
      continue;
    }
    i++;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > maxDepth) return TOO_DEEP;
    } else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return i;
  }
  return length;
}

/** Whether the codes at a position equal `wanted`. */
export function isAt(json: JsonCodes, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (json[at + i] !== wanted[i]) return false;
  return true;
}

/** Whether a code is white space. Codes after the end (`undefined`) are not. */
export function isSpace(code = 0): boolean {
  // Fast path: most codes are not.
  if (code > 0x20) return false;
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Whether an odd number of backslashes precedes a code of a string. */
function isEscaped(json: JsonCodes, at: number): boolean {
  let i = at;
  while (json[i - 1] === BACKSLASH) i--;
  return (at - i) % 2 === 1;
}
