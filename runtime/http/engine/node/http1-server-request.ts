import type { Socket } from "node:net";
import type { BodySink } from "../../body/body.ts";
import { headerValue } from "../../headers/header-list.ts";
import { type Http1Lines, isTokenCode } from "../../http1/fields.ts";
import { type AfterHead, Http1Message } from "../../http1/message-reader.ts";
import { type ReceivedFields, readReceivedFields } from "../../http1/received-fields.ts";
import { isTargetCode, SERVED_METHODS } from "../../request-line.ts";
import type { EngineRequest } from "../engine.ts";

/** Maximum bytes of a body that are held before it is read. */
const MAX_HELD = 65_536;

/** Interface of a connection for its requests. */
export interface RequestConnection {
  readonly socket: Socket;
  /** Continues reading the body of a request. */
  readOn(request: Http1ServerRequest): void;
}

/** An HTTP/1.1 request while it is read. */
export class Http1ServerRequest extends Http1Message implements EngineRequest {
  readonly socket: Socket;
  readonly #connection: RequestConnection;
  #head: Http1RequestHead | undefined;
  #sink: BodySink | undefined;
  #isPaused = false;
  #isDiscarded = false;
  /** Pieces of the body that were not requested yet. */
  #held: Buffer[] | undefined;
  #heldBytes = 0;

  constructor(connection: RequestConnection) {
    super();
    this.#connection = connection;
    this.socket = connection.socket;
  }

  /** `undefined` until it has arrived. */
  get head(): Http1RequestHead | undefined {
    return this.#head;
  }

  get method(): string {
    return this.#head?.method ?? "";
  }

  get url(): string {
    return this.#head?.target ?? "";
  }

  get rawHeaders(): string[] {
    return this.#head?.fields.list ?? [];
  }

  get fields(): ReceivedFields | undefined {
    return this.#head?.fields;
  }

  get httpVersion(): string {
    return this.#head?.version ?? "";
  }

  /** Receiver that the body's bytes are passed to now; `undefined` if they may be held. */
  get borrower(): BodySink["carrier"] {
    return this.#isPaused ? undefined : this.#sink?.carrier;
  }

  override get holdsNothing(): boolean {
    return this.#held === undefined && super.holdsNothing;
  }

  get acceptsTrailers(): boolean {
    return this.#head?.acceptsTrailers === true;
  }

  takeWhole(): Buffer | undefined {
    const held = this.#held;
    if (!this.isComplete || held?.length !== 1 || this.#sink !== undefined) return undefined;
    this.#held = undefined;
    return held[0];
  }

  flow(sink: BodySink): void {
    this.#sink = sink;
    this.#deliver();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#deliver();
  }

  discard(): void {
    if (this.#isDiscarded) return;
    this.#isDiscarded = true;
    this.#sink = undefined;
    this.#held = undefined;
    this.#connection.readOn(this);
  }

  /** The whole request was read; its sink is notified once it has received everything. */
  ended(): void {
    if (this.#isPaused || this.#held !== undefined) return;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onEnd();
  }

  /** The rest of the body will not arrive. */
  abort(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#held = undefined;
    sink?.onAbort();
  }

  protected override onHead(lines: Http1Lines): AfterHead {
    // RFC 9112 2.2: empty lines before a request are skipped.
    if (lines.text === "\r\n") return "head";
    const head = readRequestHead(lines.text.startsWith("\r\n") ? withoutFirst(lines) : lines);
    if (typeof head === "string") return this.break(head);
    this.#head = head;
    return head.body;
  }

  protected override mayBecomeHead(begun: Buffer): boolean {
    const [first = 0] = begun;
    const isStart = (first >= 65 && first <= 90) || first === 13;
    return isStart && !begun.includes("\n\n");
  }

  protected override onBody(chunk: Buffer): boolean {
    if (this.#isDiscarded) return true;
    if (this.#sink !== undefined && !this.#isPaused) {
      this.#sink.onData(chunk);
      return !this.#isPaused;
    }
    this.#held ??= [];
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    return !this.#isPaused && this.#heldBytes < MAX_HELD;
  }

  /** Delivers what is held, and then what arrives. */
  #deliver(): void {
    const held = this.#held ?? [];
    while (this.#sink !== undefined && !this.#isPaused) {
      const next = held.shift();
      if (next === undefined) break;
      this.#heldBytes -= next.length;
      this.#sink.onData(next);
    }
    if (held.length > 0) return;
    this.#held = undefined;
    if (this.isComplete) this.ended();
    if (!this.#isPaused) this.#connection.readOn(this);
  }
}

/** Removes the empty line at the start. */
function withoutFirst({ text, bytes, start }: Http1Lines): Http1Lines {
  return { text: text.slice(2), bytes, start: start + 2 };
}

/** The head of a request (RFC 9112 3, 5), with its framing. */
export interface Http1RequestHead {
  readonly method: string;
  readonly target: string;
  /** `1.1` or `1.0`. */
  readonly version: string;
  readonly fields: ReceivedFields;
  /** Bytes of the body; 0 without a body. */
  readonly body: number | "chunked";
  /** Whether another request may follow on the connection. */
  readonly keepsAlive: boolean;
  /** Whether the client sends its body only after a 100. */
  readonly expectsContinue: boolean;
  readonly acceptsTrailers: boolean;
  /** Protocol that the client requests; `undefined` if a backend may not speak it. */
  readonly upgrade: string | undefined;
}

/**
 * Parses a head without the empty line after it. Returns a string that says what is wrong. `validateRequest` applies the same
 * rules for every protocol; here they are checked early, so that nothing after a malformed head is read.
 */
function readRequestHead(lines: Http1Lines): Http1RequestHead | string {
  const line = plainRequestLine(lines) ?? anyRequestLine(lines);
  if (line === undefined) return "malformed request line";
  const { method, target, version } = line;
  if (!SERVED_METHODS.has(method)) return "unknown method";
  const fields = readReceivedFields(lines, line.next);
  if (typeof fields === "string") return fields;
  const { length = 0, isChunked, te } = fields;
  const isOld = version === "1.0";
  // RFC 9112 6.1: chunks in HTTP/1.0 are likely an error.
  if (isOld && isChunked) return "chunks in HTTP/1.0";
  const expectation = isOld ? undefined : fields.expect;
  const body = isChunked ? "chunked" : length;
  return {
    method,
    target,
    version,
    fields,
    body,
    keepsAlive: fields.keepsConnection(isOld),
    expectsContinue: expectation !== undefined,
    acceptsTrailers: te !== "" && !isOld && TRAILERS_TOKEN.test(te),
    upgrade:
      !fields.namesConnectionHeaders ||
      isOld ||
      body !== 0 ||
      !UPGRADE_TOKEN.test(fields.connection)
        ? undefined
        : protocolOf(headerValue(fields.list, "upgrade")),
  };
}

/** Other versions of HTTP, and TLS inside it, would bypass the policies (RFC 9113 3.1, RFC 2817). */
function protocolOf(upgrade: string | undefined): string | undefined {
  if (upgrade === undefined || /(?:^|[,\s])(?:h2c?|http|tls)(?=[/,\s]|$)/i.test(upgrade))
    return undefined;
  return upgrade;
}

/** A request line (RFC 9112 3), and the start of the first field. */
interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly next: number;
}

/** Parses an HTTP/1.1 request line with single spaces, as nearly all are. Returns `undefined` for others. */
function plainRequestLine({ text, bytes, start }: Http1Lines): RequestLine | undefined {
  let methodEnd = start;
  while (isTokenCode[bytes[methodEnd] ?? 0] === 1) methodEnd++;
  let targetEnd = methodEnd + 1;
  while (isTargetCode(bytes[targetEnd] ?? 0)) targetEnd++;
  if (bytes[methodEnd] !== 0x20 || targetEnd === methodEnd + 1) return undefined;
  for (let i = 0; i < behindTarget.length; i++) {
    if (bytes[targetEnd + i] !== behindTarget[i]) return undefined;
  }
  const method = text.slice(0, methodEnd - start);
  const target = text.slice(methodEnd + 1 - start, targetEnd - start);
  return { method, target, version: "1.1", next: targetEnd + behindTarget.length - start };
}

function anyRequestLine({ text }: Http1Lines): RequestLine | undefined {
  const lineEnd = text.indexOf("\r\n");
  const line = REQUEST_LINE.exec(text.slice(0, lineEnd));
  if (line === null) return undefined;
  const [, method = "", target = "", version = ""] = line;
  return { method, target, version, next: lineEnd + 2 };
}

const behindTarget = Buffer.from(" HTTP/1.1\r\n");

/** RFC 9112 3: several spaces are tolerated, because they are unambiguous. */
const REQUEST_LINE = /^([A-Z][A-Z-]*) +([\x21-\x7e]+) +HTTP\/(1\.[01])$/;

const TRAILERS_TOKEN = /(?:^|,)\s*trailers\s*(?:$|[,;])/i;
const UPGRADE_TOKEN = /(?:^|,)\s*upgrade\s*(?:,|$)/;
