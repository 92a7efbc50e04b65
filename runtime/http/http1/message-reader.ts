import { copyOf } from "../../process/bytes.ts";
import type { Http1Lines } from "./fields.ts";
import { readReceivedFields } from "./received-fields.ts";

/** What became of the bytes that were read. */
export type ReadState =
  /** All were taken, and more are to come. */
  | "open"
  /** The reader pauses: the rest is kept until `readOn`. */
  | "paused"
  /** The message is complete. */
  | "ended"
  /** It is none: `problem` says why. */
  | "broken";

/**
 * What follows a head: a body, framed by its length, in chunks or by the end of the connection; another head, as it only
 * announced one; nothing, as it is broken.
 */
export type AfterHead = number | "chunked" | "close" | "head" | "broken";

/** What comes next. */
type Part = "head" | "length" | "close" | "chunkSize" | "chunk" | "chunkEnd" | "trailers" | "end";

/** The most bytes of a head, of trailers, and of the line before a chunk. */
const [maxHead, maxTrailers, maxChunkLine] = [65_536, 16_384, 1024];

/** The problem of a head that is longer than it may be. */
export const ENDLESS_HEAD = "a head without end";
/** The problem of trailers that are longer than they may be. */
export const ENDLESS_TRAILERS = "trailers without end";
/** The problem of a line before a chunk that is longer than it may be. */
export const ENDLESS_CHUNK_LINE = "a chunk size without end";

/**
 * Reads one message of HTTP/1.1 from the bytes of a connection (RFC 9112), however they are cut. It is strict: what two
 * readers could take differently is no message.
 */
export abstract class Http1Message {
  #part: Part = "head";
  /** Bytes of the body, or of the chunk, that are to come. */
  #left = 0;
  /** Where the data of the chunks stands that came in one read, in one piece. */
  #dataFrom = 0;
  #dataTo = 0;
  /** The beginning of a part that is read whole. */
  #begun: Buffer | undefined;
  /** What came behind a pause, or behind the end. */
  #rest: Buffer | undefined;
  #isPaused = false;
  /** Who is given a piece of the body may ask for more before it has taken that. */
  #isGiving = false;
  /** What is pushed is its own only until `push` is over. */
  #isLent = false;
  #problem: string | undefined;
  #trailers: readonly string[] | undefined;

  /** Bytes of it were read. */
  get hasBegun(): boolean {
    return this.#part !== "head" || this.#begun !== undefined;
  }

  /** All of it was read. */
  get isComplete(): boolean {
    return this.#part === "end";
  }

  /** What stands behind its body. */
  get trailers(): readonly string[] | undefined {
    return this.#trailers;
  }

  /** Bytes that came behind its end. */
  get excess(): Buffer | undefined {
    return this.#part === "end" ? this.#rest : undefined;
  }

  /** It keeps no bytes of what was pushed. */
  get holdsNothing(): boolean {
    return this.#begun === undefined && this.#rest === undefined;
  }

  /** Why it is broken; undefined: it is not. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Takes bytes. Those that are lent are another's again when it is over: it copies what it keeps, and what it gives on. */
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

  /** Goes on behind a pause. */
  readOn(): ReadState {
    const rest = this.#rest;
    this.#isPaused = false;
    // Who pushes goes on, and is the one who is told of the end.
    if (this.#isGiving) return "open";
    if (this.#part === "end") return "ended";
    this.#rest = undefined;
    return rest === undefined ? "open" : this.push(rest);
  }

  /** The other side has ended. Whether that is where the message ends. */
  close(): boolean {
    return this.#part === "close";
  }

  /** Takes a head, without the empty line behind it. */
  protected abstract onHead(lines: Http1Lines): AfterHead;
  /** Whether these can be the first bytes of a head. */
  protected abstract mayBecomeHead(begun: Buffer): boolean;
  /** Takes a piece of the body. False: pause. */
  protected abstract onBody(chunk: Buffer): boolean;

  /** It is no message: nothing behind it is read. */
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

  /** Reads one part, or as much of it as is there; gives where the next one begins. */
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
      // Who says something else may never come to the end of a head.
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

  /** Chunks that came together go on together: their data is moved over the frames between, which nobody reads again. */
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
    // Mostly a number and the end of the line are there as a whole.
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
    // Mostly there are none.
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
      return this.#broken("trailers that frame a message");
    }
    this.#trailers = trailers;
    this.#part = "end";
    return next;
  }

  /**
   * What stands before a mark, and where what is behind it begins. Without lines the mark is not there yet: what came is kept,
   * or it is too long, and `next` negative.
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
    // The last line of a head, or of trailers, ends as the others do.
    const textEnd = mark === emptyLine ? end + lineBreak.length : end;
    const text = whole.toString("latin1", start, textEnd);
    return { lines: { text, bytes: whole, start }, next: at + behind };
  }

  #give(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#isGiving = true;
    if (!this.onBody(this.#own(chunk))) this.#isPaused = true;
    this.#isGiving = false;
  }

  #broken(problem: string): number {
    this.break(problem);
    return 0;
  }
}

/**
 * Where an empty line stands behind another one, from a place on; negative: nowhere. Most bytes are none of a line break: it
 * looks at every fourth of them.
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
 * Whether one of these trailers decides where a message ends, or whether another one may follow: that stands before a message
 * (RFC 9110 6.5.1).
 */
export function frameMessage(trailers: readonly string[]): boolean {
  return trailers.some((name, i) => i % 2 === 0 && FRAMES.test(name));
}

/** Its value; negative: it is none. */
function hexDigit(byte = 0): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

const lineBreak = Buffer.from("\r\n");
const emptyLine = Buffer.from("\r\n\r\n");

const BAD_CHUNK_SIZE = "no valid chunk size";

const FRAMES = /^(?:connection|content-length|transfer-encoding)$/i;

/** RFC 9112 7.1: up to 2^52 bytes, and extensions, which mean nothing here. */
const CHUNK_SIZE =
  /^([0-9a-f]{1,13})(?:;[\w!#$%&'*+\-.^`|~]+(?:=(?:[\w!#$%&'*+\-.^`|~]+|"[\t !#-[\]-~\x80-\xff]*"))?)*$/i;
