import { copyOf } from "../../process/bytes.ts";
import { type Http1Lines, ONE_PIECE } from "./fields.ts";
import { readReceivedFields } from "./received-fields.ts";

/** State after bytes were read. */
export type ReadState =
  /** All bytes were taken; more are expected. */
  | "open"
  /** Reading pauses: the rest is kept until `readOn`. */
  | "paused"
  /** The message is complete. */
  | "ended"
  /** The message is malformed, see `problem`. */
  | "broken";

/**
 * Continuation after a head: a body framed by its length, in chunks or by the end of the connection; another head, if this one
 * was interim; or nothing, if it is malformed.
 */
export type AfterHead = number | "chunked" | "close" | "head" | "broken";

/** The expected part. */
type Part = "head" | "length" | "close" | "chunkSize" | "chunk" | "chunkEnd" | "trailers" | "end";

/** Maximum bytes of a head, of trailers, and of the line before a chunk. */
const [maxHead, maxTrailers, maxChunkLine] = [65_536, 16_384, 1024];

/** Problem of a head over the limit. */
export const ENDLESS_HEAD = "a head over the size limit";
/** Problem of trailers over the limit. */
export const ENDLESS_TRAILERS = "trailers over the size limit";
/** Problem of a chunk's line over the limit. */
export const ENDLESS_CHUNK_LINE = "a chunk line over the size limit";

/**
 * Reads one HTTP/1.1 message from the bytes of a connection (RFC 9112), however they are split. It is strict: it refuses what
 * two readers could understand differently.
 */
export abstract class Http1Message {
  #part: Part = "head";
  /** Missing bytes of the body or the chunk. */
  #left = 0;
  /** Start of the chunk data of one read, which is joined into one piece. */
  #dataFrom = 0;
  #dataTo = 0;
  /** Start of a part that is read whole. */
  #begun: Buffer | undefined;
  /** Bytes after a pause, or after the end. */
  #rest: Buffer | undefined;
  #isPaused = false;
  /** A receiver of a piece may request more before it has returned. */
  #isGiving = false;
  /** Whether pushed bytes are only valid during `push`. */
  #isLent = false;
  #problem: string | undefined;
  #trailers: readonly string[] | undefined;

  /** Whether bytes of the message were read. */
  get hasBegun(): boolean {
    return this.#part !== "head" || this.#begun !== undefined;
  }

  /** Whether the whole message was read. */
  get isComplete(): boolean {
    return this.#part === "end";
  }

  /** Trailers of the message. */
  get trailers(): readonly string[] | undefined {
    return this.#trailers;
  }

  /** Bytes received after its end. */
  get excess(): Buffer | undefined {
    return this.#part === "end" ? this.#rest : undefined;
  }

  /** Whether no pushed bytes are kept. */
  get holdsNothing(): boolean {
    return this.#begun === undefined && this.#rest === undefined;
  }

  /** Why the message is malformed; `undefined` if it is not. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Reads bytes. Lent bytes are only valid during the call: those that are kept or passed on are copied. */
  push(bytes: Buffer, isLent = false): ReadState {
    this.#isLent = isLent;
    if (this.#isPaused) {
      this.#keep(bytes);
      return "paused";
    }
    let at = 0;
    while (at < bytes.length && this.#part !== "end" && !this.#isPaused) {
      at = this.#read(bytes, at);
      if (this.#problem !== undefined) break;
    }
    this.#giveChunks(bytes);
    if (this.#problem !== undefined) return "broken";
    if (at < bytes.length) this.#keep(bytes.subarray(at));
    if (this.#isPaused) return "paused";
    return this.#part === "end" ? "ended" : "open";
  }

  /** Continues after a pause. */
  readOn(): ReadState {
    const rest = this.#rest;
    this.#isPaused = false;
    // The outer `push` continues and reports the end.
    if (this.#isGiving) return "open";
    if (this.#part === "end") return "ended";
    this.#rest = undefined;
    return rest === undefined ? "open" : this.push(rest);
  }

  /** Handles the end of the connection. Returns whether the message is complete. */
  close(): boolean {
    return this.#part === "close";
  }

  /** Handles a head, without the empty line after it. */
  protected abstract onHead(lines: Http1Lines): AfterHead;
  /** Whether these bytes can start a head. */
  protected abstract mayBecomeHead(begun: Buffer): boolean;
  /** Handles a piece of the body. Returns false to pause. */
  protected abstract onBody(chunk: Buffer): boolean;

  /** Whether the receiver of pieces copies what it keeps of those with at most `ONE_PIECE` bytes. */
  protected get copiesPieces(): boolean {
    return false;
  }

  /** Reports a malformed message; nothing after it is read. */
  protected break(problem: string): "broken" {
    this.#problem = problem;
    return "broken";
  }

  #keep(rest: Buffer): void {
    this.#rest = this.#rest === undefined ? this.#own(rest) : Buffer.concat([this.#rest, rest]);
  }

  #own(bytes: Buffer): Buffer {
    return this.#isLent ? copyOf(bytes) : bytes;
  }

  /** Reads one part, as far as it has arrived, and returns the start of the next one. */
  #read(bytes: Buffer, at: number): number {
    switch (this.#part) {
      case "head":
        return this.#readHead(bytes, at);
      case "length":
        return this.#readData(bytes, at);
      case "chunk":
        return this.#readChunk(bytes, at);
      case "close":
        this.#give(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case "chunkSize":
        return this.#readChunkSize(bytes, at);
      case "chunkEnd":
        return this.#readChunkEnd(bytes, at);
      case "trailers":
        return this.#readTrailers(bytes, at);
      case "end":
        return at;
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const { lines, next } = this.#upTo(emptyLine, bytes, at, maxHead);
    if (lines === undefined) {
      if (next < 0) return this.#broken(ENDLESS_HEAD);
      // Other bytes may never contain the end of a head.
      const isHead = this.#begun === undefined || this.mayBecomeHead(this.#begun);
      return isHead ? next : this.#broken("no head");
    }
    this.#beginBody(this.onHead(lines));
    return next;
  }

  #beginBody(after: AfterHead): void {
    if (after === "head" || after === "broken") return;
    if (after === "chunked") this.#part = "chunkSize";
    else if (after === "close") this.#part = "close";
    else {
      this.#left = after;
      this.#part = after === 0 ? "end" : "length";
    }
  }

  #readData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    this.#give(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    if (this.#left === 0) this.#part = "end";
    return end;
  }

  /** Joins chunks that arrived together: their data is moved over the frames in between, which are not read again. */
  #readChunk(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#dataTo === 0) {
      this.#dataFrom = at;
      this.#dataTo = end;
    } else {
      bytes.copyWithin(this.#dataTo, at, end);
      this.#dataTo += end - at;
    }
    if (this.#left === 0) this.#part = "chunkEnd";
    return end;
  }

  #giveChunks(bytes: Buffer): void {
    if (this.#dataTo === 0) return;
    const data = bytes.subarray(this.#dataFrom, this.#dataTo);
    this.#dataTo = 0;
    this.#give(data);
  }

  #readChunkSize(bytes: Buffer, at: number): number {
    // The number and the end of the line have usually arrived whole.
    let size = 0;
    let end = at;
    for (let digit = hexDigit(bytes[end]); digit >= 0 && end - at < 8; ) {
      size = size * 16 + digit;
      end += 1;
      digit = hexDigit(bytes[end]);
    }
    const isPlain = this.#begun === undefined && end > at;
    if (isPlain && bytes[end] === 13 && bytes[end + 1] === 10)
      return this.#beginChunk(size, end + 2);
    const { lines, next } = this.#upTo(lineBreak, bytes, at, maxChunkLine);
    if (lines === undefined) {
      if (next < 0) return this.#broken(ENDLESS_CHUNK_LINE);
      return this.#begun?.includes("\n") === true ? this.#broken(BAD_CHUNK_SIZE) : next;
    }
    const digits = CHUNK_SIZE.exec(lines.text)?.[1];
    if (digits === undefined) return this.#broken(BAD_CHUNK_SIZE);
    return this.#beginChunk(Number.parseInt(digits, 16), next);
  }

  #beginChunk(size: number, next: number): number {
    this.#left = size;
    this.#part = size === 0 ? "trailers" : "chunk";
    return next;
  }

  #readChunkEnd(bytes: Buffer, at: number): number {
    if (this.#begun === undefined && bytes[at] === 13 && bytes[at + 1] === 10) {
      this.#part = "chunkSize";
      return at + 2;
    }
    const { lines, next } = this.#upTo(lineBreak, bytes, at, lineBreak.length);
    if (lines === undefined) return next < 0 ? this.#broken("a chunk longer than its size") : next;
    if (lines.text !== "") return this.#broken("a chunk longer than its size");
    this.#part = "chunkSize";
    return next;
  }

  #readTrailers(bytes: Buffer, at: number): number {
    // There are usually no trailers.
    const isEmpty =
      this.#begun === undefined
        ? bytes[at] === 13 && bytes[at + 1] === 10
        : this.#begun.length === 1 && this.#begun[0] === 13 && bytes[at] === 10;
    if (isEmpty) {
      const length = this.#begun === undefined ? 2 : 1;
      this.#part = "end";
      return at + length;
    }
    const { lines, next } = this.#upTo(emptyLine, bytes, at, maxTrailers);
    if (lines === undefined) return next < 0 ? this.#broken(ENDLESS_TRAILERS) : next;
    const fields = readReceivedFields(lines, 0);
    if (typeof fields === "string") return this.#broken(fields);
    const trailers = fields.list;
    if (frameMessage(trailers)) {
      return this.#broken("trailers with framing fields");
    }
    this.#trailers = trailers;
    this.#part = "end";
    return next;
  }

  /**
   * Returns the lines before a mark and the index after it. Without lines, the mark has not arrived: the bytes are kept, or
   * `next` is negative if there are too many.
   */
  #upTo(
    mark: Buffer,
    bytes: Buffer,
    at: number,
    most: number,
  ): { readonly lines: Http1Lines | undefined; readonly next: number } {
    const begun = this.#begun;
    const whole = begun === undefined ? bytes : Buffer.concat([begun, bytes.subarray(at)]);
    const start = begun === undefined ? at : 0;
    const end = mark === emptyLine ? emptyLineIn(whole, start) : whole.indexOf(mark, start);
    if ((end < 0 ? whole.length : end) - start > most) return { lines: undefined, next: -1 };
    if (end < 0) {
      this.#begun = begun === undefined ? this.#own(whole.subarray(start)) : whole;
      return { lines: undefined, next: bytes.length };
    }
    this.#begun = undefined;
    const behind = end + mark.length - start - (begun?.length ?? 0);
    // The last line of a head or of trailers keeps its line break.
    const textEnd = mark === emptyLine ? end + lineBreak.length : end;
    const text = whole.toString("latin1", start, textEnd);
    return { lines: { text, bytes: whole, start }, next: at + behind };
  }

  #give(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#isGiving = true;
    const isCopied = chunk.length <= ONE_PIECE && this.copiesPieces;
    if (!this.onBody(isCopied ? chunk : this.#own(chunk))) this.#isPaused = true;
    this.#isGiving = false;
  }

  #broken(problem: string): number {
    this.break(problem);
    return 0;
  }
}

/**
 * Finds an empty line after another line, from an index on; negative if it is missing. Most bytes do not belong to a line
 * break, so it examines every fourth one.
 */
function emptyLineIn(bytes: Buffer, from: number): number {
  for (let last = from + 3; last < bytes.length; ) {
    const byte = bytes[last] ?? 0;
    if (byte === 13) last += 1;
    else if (byte !== 10) last += 4;
    else {
      if (bytes[last - 1] === 13 && bytes[last - 2] === 10 && bytes[last - 3] === 13)
        return last - 3;
      last += 2;
    }
  }
  return -1;
}

/**
 * Whether one of these trailers determines where a message ends, or whether another one may follow: such fields belong in the
 * head (RFC 9110 6.5.1).
 */
export function frameMessage(trailers: readonly string[]): boolean {
  return trailers.some((name, i) => i % 2 === 0 && FRAMES.test(name));
}

/** Returns the value of a hexadecimal digit; negative for other bytes. */
function hexDigit(byte = 0): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

const lineBreak = Buffer.from("\r\n");
const emptyLine = Buffer.from("\r\n\r\n");

const BAD_CHUNK_SIZE = "malformed chunk size";

const FRAMES = /^(?:connection|content-length|transfer-encoding)$/i;

/** RFC 9112 7.1: up to 2^52 bytes, and extensions, which are ignored. */
const CHUNK_SIZE =
  /^([0-9a-f]{1,13})(?:;[\w!#$%&'*+\-.^`|~]+(?:=(?:[\w!#$%&'*+\-.^`|~]+|"[\t !#-[\]-~\x80-\xff]*"))?)*$/i;
