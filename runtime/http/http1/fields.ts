import type { Writable } from "node:stream";
import { asBuffer } from "../../process/bytes.ts";
import type { HeaderList } from "../headers/header-list.ts";

/** Whether a text is a name (RFC 9110 5.6.2), as fields and methods have one. */
export function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (isTokenCode[text.charCodeAt(i)] !== 1) return false;
  return text !== "";
}

/** Whether a text can be the value of a field (RFC 9110 5.5): no line break, no other control. */
export function isFieldValue(text: string): boolean {
  return !NO_FIELD_VALUE.test(text);
}

/** Lines that were read, as text and as the bytes that it was made of: bytes are quicker to look through, text to cut. */
export interface Http1Lines {
  /** Latin-1. Of a head each line ends with its line break, and the empty line behind them is not in it. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** Where the text begins among the bytes. */
  readonly start: number;
}

/** RFC 9110 5.6.3: optional white space is spaces and tabs. */
export function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === 0x09;
}

const TOKEN = /^[\w!#$%&'*+\-.^`|~]+$/;
const NO_FIELD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** 1 for the codes of Latin-1 that a token is made of. */
export const isTokenCode: Uint8Array = codesOf((character) => TOKEN.test(character));

/** 1 for those that the value of a field is made of, blanks included. */
export const isValueCode: Uint8Array = codesOf(isFieldValue);

function codesOf(isOne: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (isOne(String.fromCharCode(code)) ? 1 : 0));
}

/** Fields as lines of HTTP/1.1, each with its line break; undefined: one of them would not stay what it is. */
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

/** Fields that are added to the head of one response after the other: what they are as lines is found out once. */
export interface AddedFields {
  /** Flat. */
  readonly list: HeaderList;
  /** The same, each with its line break; undefined: they can't be. */
  readonly lines: string | undefined;
}

/** Prepares fields of a flat list. */
export function addedFields(list: HeaderList): AddedFields {
  return { list, lines: fieldLines(list) };
}

/** What is called when a write has gone out, or failed. */
export type Sent = (error?: Error | null) => void;

/** A chunk of at most so many bytes is put into one piece with what stands around it: half the cost of a gathered write. */
export const ONE_PIECE = 4096;

/**
 * Writes bytes with the text (Latin-1) before and behind them in one go: a head and the start of its body, a chunk and
 * its frame. `sent` is called when all has gone out. False: wait for `drain`.
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

/** Bytes with what stands around them, as Latin-1. */
export function inOnePiece(before: string, chunk: Uint8Array, behind: string): string {
  return before + asBuffer(chunk).toString("latin1") + behind;
}

/** Whether a text is written as it is with what stands around it: it is short, and of ASCII alone. `length`: its bytes. */
export function isPlainText(text: string, length: number | "chunked" | undefined): boolean {
  return text.length <= ONE_PIECE && length === text.length;
}

/** A socket says of one long piece that it is too much, even where the kernel has taken all of it. */
function isReady(socket: Writable, isBelow: boolean): boolean {
  return isBelow || socket.writableLength === 0;
}
