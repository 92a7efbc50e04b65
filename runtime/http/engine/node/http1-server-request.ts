import type { Socket } from "node:net";
import type { BodySink } from "../../body/body.ts";
import { headerValue } from "../../headers/header-list.ts";
import { type Http1Lines, isTokenCode } from "../../http1/fields.ts";
import { type AfterHead, Http1Message } from "../../http1/message-reader.ts";
import { type ReceivedFields, readReceivedFields } from "../../http1/received-fields.ts";
import { isTargetCode, SERVED_METHODS } from "../../request-line.ts";
import type { EngineRequest } from "../engine.ts";

/** The most bytes of a body that are held before somebody wants them. */
const MAX_HELD = 65_536;

/** What a request needs of its connection. */
export interface RequestConnection {
  readonly socket: Socket;
  /** A request takes more of its body. */
  readOn(request: Http1ServerRequest): void;
}

/** A request of HTTP/1.1, as it is read. */
export class Http1ServerRequest extends Http1Message implements EngineRequest {
  readonly socket: Socket;
  readonly #connection: RequestConnection;
  #head: Http1RequestHead | undefined;
  #sink: BodySink | undefined;
  #isPaused = false;
  #isDiscarded = false;
  /** Pieces of the body that nobody has asked for. */
  #held: Buffer[] | undefined;
  #heldBytes = 0;

  constructor(connection: RequestConnection) {
    super();
    this.#connection = connection;
    this.socket = connection.socket;
  }

  /** Undefined until it is there. */
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

  /** Whoever what comes of the body now is passed on to; undefined: it may be held. */
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
    this.#goOn();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#goOn();
  }

  discard(): void {
    if (this.#isDiscarded) return;
    this.#isDiscarded = true;
    this.#sink = undefined;
    this.#held = undefined;
    this.#connection.readOn(this);
  }

  /** All of it was read: its sink is told, when it has all of it. */
  ended(): void {
    if (this.#isPaused || this.#held !== undefined) return;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onEnd();
  }

  /** No more of it will come. */
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

  /** Gives what is held, and then what comes. */
  #goOn(): void {
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

/** Without the empty line that they begin with. */
function withoutFirst({ text, bytes, start }: Http1Lines): Http1Lines {
  return { text: text.slice(2), bytes, start: start + 2 };
}

/** The head of a request (RFC 9112 3, 5), and what it says of what follows. */
export interface Http1RequestHead {
  readonly method: string;
  readonly target: string;
  /** `1.1` or `1.0`. */
  readonly version: string;
  readonly fields: ReceivedFields;
  /** Bytes of the body; 0: there is none. */
  readonly body: number | "chunked";
  /** Another request may follow on the connection. */
  readonly keepsAlive: boolean;
  /** The client sends its body once a 100 asks for it. */
  readonly expectsContinue: boolean;
  readonly acceptsTrailers: boolean;
  /** The protocol that the client asks for; undefined: none that a backend may speak. */
  readonly upgrade: string | undefined;
}

/**
 * Reads a head without the empty line behind it. A string is what is wrong. `validateRequest` goes by the same methods, target
 * codes and fields for every protocol; here they are checked early, so that nothing behind a malformed head is read.
 */
export function readRequestHead(lines: Http1Lines): Http1RequestHead | string {
  const line = plainRequestLine(lines) ?? anyRequestLine(lines);
  if (line === undefined) return "no valid request line";
  const { method, target, version } = line;
  if (!SERVED_METHODS.has(method)) return "a method that nobody knows";
  const fields = readReceivedFields(lines, line.next);
  if (typeof fields === "string") return fields;
  const { length = 0, isChunked, te } = fields;
  const isOld = version === "1.0";
  // RFC 9112 6.1: who writes chunks in HTTP/1.0 may not mean it.
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

/** Other versions of HTTP, and TLS around it, would pass behind the back of the policies (RFC 9113 3.1, RFC 2817). */
function protocolOf(upgrade: string | undefined): string | undefined {
  if (upgrade === undefined || /(?:^|[,\s])(?:h2c?|http|tls)(?=[/,\s]|$)/i.test(upgrade))
    return undefined;
  return upgrade;
}

/** A request line (RFC 9112 3), and where the first field stands behind it. */
interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly next: number;
}

/** Reads one of HTTP/1.1 with one space between its parts, as nearly all are; undefined: it is another one, or none. */
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

/** RFC 9112 3: more than one space is forgiven, as nobody reads it in another way. */
const REQUEST_LINE = /^([A-Z][A-Z-]*) +([\x21-\x7e]+) +HTTP\/(1\.[01])$/;

const TRAILERS_TOKEN = /(?:^|,)\s*trailers\s*(?:$|[,;])/i;
const UPGRADE_TOKEN = /(?:^|,)\s*upgrade\s*(?:,|$)/;
