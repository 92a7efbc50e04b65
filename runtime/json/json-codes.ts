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
 * A JSON text as numbers: its bytes, or its UTF-16 units. Engines read numbers of memory in half the time that characters of
 * a string take. What is read here need not be JSON: whoever reads it says what it must be.
 */
export type JsonCodes = Uint8Array | Uint16Array;

/** The codes of a text, at the places of its characters. `bytes`: its UTF-8. */
export function codesOf(text: string, bytes: Uint8Array): JsonCodes {
  if (text.length === bytes.length) return bytes;
  const units = Buffer.from(text, "utf16le");
  if (endianness() === "BE") units.swap16();
  return new Uint16Array(units.buffer, units.byteOffset, text.length);
}

/** The first code that is not white space, from `at` on. */
export function afterSpace(json: JsonCodes, at: number): number {
  let i = at;
  while (i < json.length && isSpace(json[i])) i++;
  return i;
}

/** In the place of an end. */
export const TOO_DEEP = -1;

/** Where the value at `at` ends: behind its last code. `tooDeep`: it holds more than `maxDepth` objects and lists in one another. */
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

/** Where a string ends that is what it looks like, as nearly every key is; -1: it has escapes, or no end. */
export function plainStringEnd(json: JsonCodes, at: number): number {
  for (let i = at + 1; i < json.length; i++) {
    const code = json[i];
    if (code === QUOTE) return i + 1;
    if (code === BACKSLASH) return -1;
  }
  return -1;
}

/** Longer strings are searched in a way that takes longer to begin. */
export const SHORT_STRING = 24;

/** Where the string at `at` ends. The quotes of long ones are found by `indexOf`, which looks at many codes at once. */
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

/** Counts brackets instead of recursing: depth is the sender's choice. `open`: how many stand before `at`. */
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

/** Whether codes stand at a place. */
export function isAt(json: JsonCodes, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (json[at + i] !== wanted[i]) return false;
  return true;
}

/** Whether a code is white space; none is, behind the end. */
export function isSpace(code = 0): boolean {
  // Most of what is looked at is none.
  if (code > 0x20) return false;
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Whether an odd number of backslashes stands before a code of a string. */
function isEscaped(json: JsonCodes, at: number): boolean {
  let i = at;
  while (json[i - 1] === BACKSLASH) i--;
  return (at - i) % 2 === 1;
}
