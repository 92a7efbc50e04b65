import type { Borrower } from "../../../net/socket-reads.ts";
import { isBodySource } from "../../body/body.ts";
import { fieldLines, type Http1Lines, isToken, isValueCode } from "../../http1/fields.ts";
import { type AfterHead, Http1Message } from "../../http1/message-reader.ts";
import { type ReceivedFields, readReceivedFields } from "../../http1/received-fields.ts";
import type { LinesCall, UpstreamCall } from "../upstream.ts";

/** A formatted request. */
export interface WrittenCall {
  readonly method: string;
  /** `undefined` if a part of it is invalid. */
  readonly head: string | undefined;
  readonly body: UpstreamCall["body"];
  /** Bytes of the body; `chunked` (RFC 9112 7.1); `undefined` without a body, which is then not announced. */
  readonly framing: BodyFraming;
}

/** A request with formatted fields. */
export interface WrittenFields extends Omit<LinesCall, "lines"> {
  readonly lines: string | undefined;
}

/** Formats the head of a request. */
export function writtenCall({ method, path, headers, body }: UpstreamCall): WrittenCall {
  return writtenLines({ method, path, lines: fieldLines(headers), body });
}

/** Formats the head of a request with formatted fields; the head is `undefined` if they are invalid. */
export function writtenLines({ method, path, lines, body, length }: WrittenFields): WrittenCall {
  const framing = length ?? framingOf(method, body);
  const isWritable = lines !== undefined && isToken(method) && TARGET.test(path);
  const head = isWritable
    ? `${method} ${path} HTTP/1.1\r\n${lines}${framingLines(framing)}\r\n`
    : undefined;
  return { method, head, body, framing };
}

/** Framing of a body (RFC 9112 6). */
type BodyFraming = number | "chunked" | undefined;

function framingOf(method: string, body: UpstreamCall["body"]): BodyFraming {
  if (body === null) return BODILESS.has(method) ? undefined : 0;
  if (typeof body === "string") return Buffer.byteLength(body);
  if (isBodySource(body)) return body.length ?? "chunked";
  return body.length;
}

function framingLines(framing: BodyFraming): string {
  // Servers of HTTP/1.0 would close the connection (RFC 9112 C.2.2).
  const kept = "connection: keep-alive\r\n";
  if (framing === undefined) return kept;
  if (framing === "chunked") return `${kept}transfer-encoding: chunked\r\n`;
  return `${kept}content-length: ${framing}\r\n`;
}

/** Methods whose requests usually have no body. Others announce an empty one (RFC 9110 8.6). */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "DELETE"]);

/** RFC 9112 3.2: no space, no control. */
const TARGET = /^[\x21-\x7e\x80-\xff]+$/;

/** The head of a response (RFC 9112 4, 5), with its framing. */
export interface Http1Head {
  readonly status: number;
  readonly fields: ReceivedFields;
  /** Whether another request may be sent on the connection. */
  readonly keepsAlive: boolean;
  /** Idle time in seconds that the server announces; `undefined` if it announces none. */
  readonly keepAliveTime: number | undefined;
}

/** Parses a head without the empty line after it. Returns a string that says what is wrong. */
function readHttp1Head(lines: Http1Lines): Http1Head | string {
  const { text, bytes, start } = lines;
  const lineEnd = statusLineEnd(bytes, start);
  if (lineEnd < 0) return "malformed status line";
  const fields = readReceivedFields(lines, lineEnd + 2 - start);
  if (typeof fields === "string") return fields;
  const isOld = text.charCodeAt(minorAt) === 0x30;
  // RFC 9112 6.1: chunks in HTTP/1.0 are likely an error.
  const keepsAlive = !(isOld && fields.isChunked) && fields.keepsConnection(isOld);
  const status = Number(text.slice(statusAt, statusAt + 3));
  return { status, fields, keepsAlive, keepAliveTime: timeOf(fields.keepAlive) };
}

/**
 * Returns the end of a status line (RFC 9112 4), whose reason and the space before it are optional. Negative if it is
 * malformed.
 */
function statusLineEnd(bytes: Uint8Array, start: number): number {
  for (let i = 0; i < VERSION.length; i++) if (bytes[start + i] !== VERSION[i]) return -1;
  const minor = bytes[start + minorAt];
  if ((minor !== 0x30 && minor !== 0x31) || bytes[start + minorAt + 1] !== 0x20) return -1;
  const status = start + statusAt;
  if (bytes[status] === 0x30) return -1;
  for (let i = status; i < status + 3; i++) if (!isDigit(bytes[i] ?? 0)) return -1;
  let end = status + 3;
  if (bytes[end] === 0x20) while (isValueCode[bytes[end] ?? 0] === 1) end++;
  return bytes[end] === 13 && bytes[end + 1] === 10 ? end : -1;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function timeOf(value: string): number | undefined {
  if (value === "") return undefined;
  const seconds = TIMEOUT.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

const TIMEOUT = /(?:^|[\s,])timeout=(\d{1,6})(?:$|[\s,])/i;

const VERSION = Buffer.from("HTTP/1.");
/** Indexes of the minor version and the status. */
const [minorAt, statusAt] = [7, 9];

/** Receives one response as it is read. */
export interface Http1Reader {
  /** Receives an interim response (1xx). */
  onInformation(): void;
  onResponse(head: Http1Head): void;
  /** The connection that gets all pieces during `onData`. If absent, some of their bytes may be kept. */
  readonly borrower?: Borrower | undefined;
  /** Receives a piece of the body. Returns false to pause. */
  onData(chunk: Buffer): boolean;
}

/** An HTTP/1.1 response while it is read. */
export class Http1Response extends Http1Message {
  readonly #reader: Http1Reader;
  readonly #hasNoBody: boolean;
  #head: Http1Head | undefined;

  /** `hasNoBody`: whether the request was for the head alone. */
  constructor(reader: Http1Reader, hasNoBody: boolean) {
    super();
    this.#reader = reader;
    this.#hasNoBody = hasNoBody;
  }

  /** The head, once it has arrived. */
  get head(): Http1Head | undefined {
    return this.#head;
  }

  protected override onHead(lines: Http1Lines): AfterHead {
    const head = readHttp1Head(lines);
    if (typeof head === "string") return this.break(head);
    const { status } = head;
    // No other protocol was requested.
    if (status === 101) return this.break("101 without a request for another protocol");
    if (status < 200) {
      if (!head.keepsAlive) return this.break("an interim response that closes the connection");
      this.#reader.onInformation();
      return "head";
    }
    this.#head = head;
    const after = this.#bodyOf(head);
    this.#reader.onResponse(head);
    return after;
  }

  protected override mayBecomeHead(begun: Buffer): boolean {
    const length = Math.min(begun.length, VERSION.length);
    return begun.compare(VERSION, 0, length, 0, length) === 0 && !begun.includes("\n\n");
  }

  protected override get copiesPieces(): boolean {
    return this.#reader.borrower?.copiesPieces === true;
  }

  protected override onBody(chunk: Buffer): boolean {
    return this.#reader.onData(chunk);
  }

  /** Returns the framing of the body (RFC 9112 6.3). */
  #bodyOf({ status, fields: { isChunked, length } }: Http1Head): AfterHead {
    if (this.#hasNoBody || status === 204 || status === 304) return 0;
    if (isChunked) return "chunked";
    return length ?? "close";
  }
}
