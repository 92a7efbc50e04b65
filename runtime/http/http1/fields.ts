import type { Writable } from "node:stream";
import { asBuffer } from "../../process/bytes.ts";
import type { HeaderList } from "../headers/header-list.ts";

/** Whether a string is a token (RFC 9110 5.6.2), as names of fields and methods are. */
export function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (isTokenCode[text.charCodeAt(i)] !== 1) return false;
  return text !== "";
}

/** Whether a string can be the value of a field (RFC 9110 5.5): no line break or other control character. */
export function isFieldValue(text: string): boolean {
  return !NO_FIELD_VALUE.test(text);
}

/** Received lines as a string and as bytes: bytes are faster to scan, strings to slice. */
export interface Http1Lines {
  /** Latin-1. Each line of a head ends with its line break; the empty line after them is not included. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** Index of the string's start in the bytes. */
  readonly start: number;
}

/** Whether a code is optional white space: a space or a tab (RFC 9110 5.6.3). */
export function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === 0x09;
}

const TOKEN = /^[\w!#$%&'*+\-.^`|~]+$/;
const NO_FIELD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** 1 for the Latin-1 codes of tokens. */
export const isTokenCode: Uint8Array = codesOf((character) => TOKEN.test(character));

/** 1 for the Latin-1 codes of field values, blanks included. */
export const isValueCode: Uint8Array = codesOf(isFieldValue);

function codesOf(isOne: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (isOne(String.fromCharCode(code)) ? 1 : 0));
}

/** Formats fields as HTTP/1.1 lines with their line breaks; `undefined` if one of them is invalid. */
export function fieldLines(headers: HeaderList): string | undefined {
  let lines = "";
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const value = headers[i + 1] ?? "";
    if (!isToken(name) || !isFieldValue(value)) return undefined;
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** Fields that are added to many responses, formatted once. */
export interface AddedFields {
  /** Flat list. */
  readonly list: HeaderList;
  /** The fields as lines with their line breaks; `undefined` if one is invalid. */
  readonly lines: string | undefined;
}

/** Prepares fields of a flat list. */
export function addedFields(list: HeaderList): AddedFields {
  return { list, lines: fieldLines(list) };
}

/** Callback for when a write has left or failed. */
export type Sent = (error?: Error | null) => void;

/** Maximum bytes of a chunk that is concatenated with its frame, which costs half as much as a gathered write. */
export const ONE_PIECE = 4096;

/**
 * Writes bytes with the strings (Latin-1) before and after them at once: a head with the start of its body, or a chunk with its
 * frame. `sent`: called when everything has left. Returns false if the caller should wait for `drain`.
 */
export function writeFramed(
  socket: Writable,
  before: string,
  chunk: Uint8Array,
  behind: string,
  sent?: Sent,
): boolean {
  if (before === "" && behind === "") return isReady(socket, socket.write(chunk, sent));
  if (chunk.length <= ONE_PIECE)
    return socket.write(inOnePiece(before, chunk, behind), "latin1", sent);
  socket.cork();
  if (before !== "") socket.write(before, "latin1");
  let isBelow = socket.write(chunk, behind === "" ? sent : undefined);
  if (behind !== "") isBelow = socket.write(behind, "latin1", sent);
  socket.uncork();
  return isReady(socket, isBelow);
}

/** Copies at most `ONE_PIECE` bytes, and at least one, into a chunk with its frame (RFC 9112 7.1). */
export function framedChunk(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  const start = hexLength(length) + 2;
  const chunk = Buffer.allocUnsafe(start + length + 2);
  for (let at = start - 3, rest = length; at >= 0; at--, rest >>= 4) {
    chunk[at] = HEX_DIGITS[rest & 15] ?? 0;
  }
  chunk[start - 2] = 13;
  chunk[start - 1] = 10;
  chunk.set(bytes, start);
  chunk[start + length] = 13;
  chunk[start + length + 1] = 10;
  return chunk;
}

/** Returns the number of hexadecimal digits of a number below 65,536. */
function hexLength(number: number): number {
  if (number < 0x100) return number < 0x10 ? 1 : 2;
  return number < 0x1000 ? 3 : 4;
}

const HEX_DIGITS = Buffer.from("0123456789abcdef");

/** Concatenates bytes with strings as Latin-1. */
export function inOnePiece(before: string, chunk: Uint8Array, behind: string): string {
  return before + asBuffer(chunk).toString("latin1") + behind;
}

/** Whether a string can be concatenated with its frame: it is short and ASCII. `length`: its bytes. */
export function isPlainText(text: string, length: number | "chunked" | undefined): boolean {
  return text.length <= ONE_PIECE && length === text.length;
}

/** Whether more may be written. A socket reports a single long piece as too much, even if the kernel has taken all of it. */
function isReady(socket: Writable, isBelow: boolean): boolean {
  return isBelow || socket.writableLength === 0;
}
