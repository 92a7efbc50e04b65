import type { Socket } from "node:net";
import type { BodySink } from "../../body/body.ts";
import type { Http1Lines } from "../../http1/fields.ts";
import { type AfterHead, Http1Message } from "../../http1/message-reader.ts";
import type { ReceivedFields } from "../../http1/received-fields.ts";
import type { EngineRequest } from "../engine.ts";
import { type Http1RequestHead, readRequestHead } from "./http1-request-head.ts";

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
