import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { BatchedWriter, WriteBatch } from "../../../net/write-batch.ts";
import {
  fieldLines,
  framedChunk,
  inOnePiece,
  isFieldValue,
  isPlainText,
  isToken,
  ONE_PIECE,
  type Sent,
  writeFramed,
} from "../../http1/fields.ts";
import type { EngineResponse, EngineTunnel, EngineUpgrade, ResponseLines } from "../engine.ts";
import type { Http1RequestHead } from "./http1-server-request.ts";
import { SocketBytes } from "./socket-bytes.ts";

/** Interface of a connection for its responses. */
export interface ResponseConnection {
  readonly socket: Socket;
  /** Whether no further request may follow. */
  readonly isLast: boolean;
  /** End of a head that keeps the connection open. */
  readonly keptLines: string;
  /** Value of Date (RFC 9110 6.6.1). */
  readonly date: string;
  /** Whether names of fields are written in lower case. */
  readonly lowercasesNames: boolean;
  /** Batches short responses and pieces of one turn. */
  readonly writes: WriteBatch;
  /** The whole response was passed to the socket. */
  responded(): void;
  /** Ends HTTP on the connection and returns the bytes after the request. */
  leaveHttp(): Buffer | undefined;
}

/** Response to an HTTP/1.1 request. */
export class Http1ServerResponse implements EngineResponse, BatchedWriter {
  readonly upgrade?: EngineUpgrade;
  readonly tunnel?: EngineTunnel;
  readonly #connection: ResponseConnection;
  readonly #socket: Socket;
  /** Whether the connection uses TLS, with which everything leaves a little later. */
  readonly sendsLater: boolean;
  readonly #request: Http1RequestHead;
  statusCode = 0;
  /** Head of a response of which nothing was sent yet. */
  #head = "";
  #isChunked = false;
  #hasBody = true;
  #hasContinued = false;
  #keepsAlive = true;
  #trailers = "";
  /** Number of pieces that are delayed to the end of the turn. */
  #delayed = 0;
  #isEnded = false;
  #isFinished = false;
  /** Whether the connection was closed or has another use. */
  #isGone = false;
  #hasLeftHttp = false;
  #onClose: (() => void) | undefined;
  #onDrain: (() => void) | undefined;

  /** `canLeave`: whether the connection may switch to another protocol. */
  constructor(connection: ResponseConnection, request: Http1RequestHead, canLeave: boolean) {
    this.#connection = connection;
    this.#socket = connection.socket;
    this.sendsLater = connection.socket instanceof TLSSocket;
    this.#request = request;
    const { method, upgrade } = request;
    if (!canLeave) return;
    if (method === "CONNECT") this.tunnel = { accept: (headers) => this.#leave(200, headers) };
    else if (upgrade !== undefined) {
      this.upgrade = { protocol: upgrade, accept: (headers) => this.#leave(101, headers) };
    }
  }

  get headersSent(): boolean {
    return this.statusCode !== 0;
  }

  /** After HTTP, the other direction continues when this one has ended: it is over once it is closed. */
  get writableFinished(): boolean {
    if (!this.#hasLeftHttp) return this.#isFinished;
    return this.#socket.writableFinished && this.#socket.destroyed;
  }

  /** Whether everything was written, even if not sent. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether another request may follow. */
  get keepsAlive(): boolean {
    return this.#keepsAlive;
  }

  writeHead(status: number, head: readonly string[]): void {
    let lines = "";
    let [hasLength, hasDate, closes] = [false, false, false];
    for (let i = 0; i < head.length; i += 2) {
      const name = head[i] ?? "";
      const value = head[i + 1] ?? "";
      if (!isToken(name) || !isFieldValue(value)) throw new Error(NO_FIELD);
      switch (framingName(name)) {
        case "connection":
          if (value === "close") closes = true;
          continue;
        case "transfer-encoding":
          continue;
        case "content-length":
          hasLength = true;
          break;
        case "date":
          hasDate = true;
          break;
      }
      lines += `${name}: ${value}\r\n`;
    }
    this.#begin(status, lines, hasLength, hasDate, closes);
  }

  writeLines(status: number, lines: string, { length, hasDate, closes }: ResponseLines): void {
    const all = length === undefined ? lines : `${lines}content-length: ${length}\r\n`;
    this.#begin(status, all, length !== undefined, hasDate, closes);
  }

  writeContinue(): void {
    if (this.#isGone || this.headersSent) return;
    this.#hasContinued = true;
    this.#socket.write("HTTP/1.1 100 Continue\r\n\r\n", "latin1");
  }

  flushHead(): void {
    const head = this.#takeHead();
    if (head !== "") this.#socket.write(head, "latin1");
  }

  write(chunk: Uint8Array): boolean {
    if (this.#hasLeftHttp) return this.#socket.destroyed || this.#socket.write(chunk);
    if (this.#isGone || this.#isEnded) return true;
    if (this.#hasBody && chunk.length > 0) return this.#send(chunk);
    this.flushHead();
    return true;
  }

  writeText(text: string): boolean {
    const isOpen = !this.#hasLeftHttp && !this.#isGone && !this.#isEnded;
    const isChunk = isOpen && this.#hasBody && this.#isChunked && text !== "";
    if (!isChunk) return this.write(Buffer.from(text));
    // Concatenated before it is inspected, so that V8 flattens it once.
    const all = `${this.#head}${text.length.toString(16)}\r\n${text}\r\n`;
    if (!isPlainText(all, Buffer.byteLength(all))) return this.write(Buffer.from(text));
    this.#head = "";
    return this.#sendShort(all);
  }

  /** Pieces of a stream are copied into a chunk with its frame. */
  get copiesPieces(): boolean {
    return this.#isChunked;
  }

  /** The socket's queue is empty once the kernel has everything; with TLS a little later. */
  get holdsNothing(): boolean {
    return this.#delayed === 0 && this.#socket.writableLength === 0;
  }

  setTrailers(trailers: readonly string[]): void {
    const lines = writtenFields(trailers);
    this.#trailers = this.#connection.lowercasesNames ? lowercaseNames(lines) : lines;
  }

  end(chunk: Uint8Array = nothing): void {
    if (this.#hasLeftHttp) {
      this.#socket.end();
      return;
    }
    if (this.#isGone || this.#isEnded) return;
    this.#isEnded = true;
    const head = this.#takeHead();
    const hasChunk = this.#hasBody && chunk.length > 0;
    const last = this.#isChunked ? `0\r\n${this.#trailers}\r\n` : "";
    const before = hasChunk && this.#isChunked ? head + chunkStart(chunk) : head;
    const behind = hasChunk && this.#isChunked ? `\r\n${last}` : last;
    if (hasChunk && chunk.length > ONE_PIECE) {
      const sent = this.#sentLater;
      this.#sendDelayed();
      writeFramed(this.#socket, before, chunk, behind, sent);
      if (sent === undefined) this.#awaitSent();
      return;
    }
    const text = hasChunk ? inOnePiece(before, chunk, behind) : before + behind;
    this.#sendEnd(text, head !== "");
  }

  endText(text: string): void {
    const isBody = this.#hasBody && !this.#isChunked;
    if (this.#hasLeftHttp || this.#isGone || this.#isEnded || !isBody) {
      this.end(Buffer.from(text));
      return;
    }
    this.#isEnded = true;
    const head = this.#takeHead();
    this.#sendEnd(head + text, head !== "");
  }

  destroy(): void {
    this.#sendDelayed();
    this.#socket.destroy();
  }

  on(event: "drain" | "close", listener: () => void): void {
    if (event === "drain") this.#onDrain = listener;
    else this.#onClose = listener;
  }

  /** Everything written has left, after a `write` that returned false. */
  drained(): void {
    if (!this.#isEnded) this.#onDrain?.();
  }

  /** Nothing more can be sent. */
  closed(): void {
    if (this.#isGone) return;
    this.#sendDelayed();
    this.#isGone = true;
    this.#onClose?.();
  }

  release(message: string | Uint8Array): void {
    if (this.#delayed > 0) {
      this.#delayed -= 1;
      this.#socket.write(message, "latin1");
    } else this.#finish(message);
  }

  /** Writes the end of the response, now or later. `hasHead`: it begins with the head. */
  #sendEnd(text: string, hasHead: boolean): void {
    // The rest of a stream is only delayed behind its pieces.
    const mayDelay = hasHead || this.#delayed > 0;
    if (mayDelay && this.#connection.writes.holds(this, text)) return;
    this.#sendDelayed();
    this.#finish(text);
  }

  /** Writes the end of the response. */
  #finish(text: string | Uint8Array): void {
    const sent = this.#sentLater;
    if (text !== "") this.#socket.write(text, "latin1", sent);
    if (text === "" || sent === undefined) this.#awaitSent();
  }

  #begin(
    status: number,
    lines: string,
    hasLength: boolean,
    hasDate: boolean,
    closes: boolean,
  ): void {
    let text = statusLine(status) + lines;
    if (!hasDate) text += `Date: ${this.#connection.date}\r\n`;
    const { method, version, expectsContinue } = this.#request;
    this.#hasBody = method !== "HEAD" && status !== 204 && status !== 304;
    this.#isChunked = this.#hasBody && !hasLength && version === "1.1";
    if (this.#isChunked) text += "Transfer-Encoding: chunked\r\n";
    // A client that was not asked for its body may send it or not.
    const isClear = !expectsContinue || this.#hasContinued;
    const isFramed = hasLength || this.#isChunked || !this.#hasBody;
    const mayKeep = !closes && this.#request.keepsAlive && !this.#connection.isLast;
    this.#keepsAlive = mayKeep && isClear && isFramed;
    const head = text + (this.#keepsAlive ? this.#connection.keptLines : CLOSING_LINES);
    this.#head = this.#connection.lowercasesNames ? withLowercaseNames(head) : head;
    this.statusCode = status;
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = "";
    return head;
  }

  /** Sends a piece of the body, preceded by the head. */
  #send(chunk: Uint8Array): boolean {
    const head = this.#takeHead();
    if (!this.#isChunked) return writeFramed(this.#socket, head, chunk, "");
    if (chunk.length <= ONE_PIECE) {
      const isNext = head === "";
      return this.#sendShort(
        isNext ? framedChunk(chunk) : inOnePiece(head + chunkStart(chunk), chunk, "\r\n"),
      );
    }
    this.#sendDelayed();
    return writeFramed(this.#socket, head + chunkStart(chunk), chunk, "\r\n");
  }

  /** Sends a short piece with its frame, at the end of the turn if the turn has many. */
  #sendShort(piece: string | Uint8Array): boolean {
    const socket = this.#socket;
    if (socket.writableLength === 0 && this.#connection.writes.holds(this, piece)) {
      this.#delayed += 1;
      return true;
    }
    this.#sendDelayed();
    return socket.write(piece, "latin1");
  }

  #sendDelayed(): void {
    if (this.#delayed > 0) this.#connection.writes.release();
  }

  get #sentLater(): Sent | undefined {
    return this.sendsLater ? this.#sent : undefined;
  }

  /** The kernel usually has everything already, which saves the cost of a stream callback. */
  #awaitSent(): void {
    const socket = this.#socket;
    if (socket.writableLength > 0) socket.write("", "latin1", this.#sent);
    // The code that ends the response runs the callback when it continues.
    else if (!socket.destroyed && socket.errored === null) settled.then(this.#sent);
  }

  readonly #sent: Sent = (error) => {
    // A failure shows as the end of the connection.
    if (this.#isGone || (error !== undefined && error !== null)) return;
    this.#isFinished = true;
    this.closed();
    this.#connection.responded();
  };

  #leave(status: 101 | 200, headers: readonly string[]): SocketBytes {
    const phrase = status === 101 ? "Switching Protocols" : "Connection established";
    const fields = writtenFields(headers);
    const lines = this.#connection.lowercasesNames ? lowercaseNames(fields) : fields;
    const text = `HTTP/1.1 ${status} ${phrase}\r\n${lines}`;
    this.statusCode = status;
    this.#hasLeftHttp = true;
    const rest = this.#connection.leaveHttp();
    this.#socket.write(`${text}\r\n`, "latin1");
    return new SocketBytes(this.#socket, rest);
  }
}

const nothing = new Uint8Array();
const settled = Promise.resolve(null);
const NO_FIELD = "a field that is not valid";
/** End of a head after whose response the connection closes. */
const CLOSING_LINES = "Connection: close\r\n\r\n";

/** Formats the line before a chunk (RFC 9112 7.1). */
function chunkStart(chunk: Uint8Array): string {
  return `${chunk.length.toString(16)}\r\n`;
}

/** Formats fields. Throws if one is invalid. */
function writtenFields(list: readonly string[]): string {
  const lines = fieldLines(list);
  if (lines === undefined) throw new Error(NO_FIELD);
  return lines;
}

/** Writes the names of a head's fields in lower case; its first line stays. */
function withLowercaseNames(head: string): string {
  const end = head.indexOf("\n") + 1;
  return head.slice(0, end) + lowercaseNames(head.slice(end));
}

/** Writes the names in lines of fields in lower case. */
function lowercaseNames(lines: string): string {
  return lines.replace(/^[^:\r\n]+(?=:)/gm, (name) => name.toLowerCase());
}

/** Returns the lower-case name of a field that the engine handles; `undefined` for other fields. */
function framingName(name: string): string | undefined {
  const { length } = name;
  if (length !== 4 && length !== 10 && length !== 14 && length !== 17) return undefined;
  return name.toLowerCase();
}

/** Formats the first line of a response. Throws if the status is invalid. */
export function statusLine(status: number): string {
  const known = statusLines.get(status);
  if (known !== undefined) return known;
  if (!Number.isInteger(status) || status < 200 || status > 999) throw new Error("invalid status");
  return `HTTP/1.1 ${status} unknown\r\n`;
}

/** Status lines of statuses that have a name. */
const statusLines: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES)
    .filter(([status]) => Number(status) >= 200)
    .map(([status, phrase]) => [Number(status), `HTTP/1.1 ${status} ${phrase}\r\n`]),
);
