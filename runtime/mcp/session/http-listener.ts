import type { UpstreamHandler, UpstreamRequest } from "../../http/upstream/upstream.ts";
import type { Message } from "../protocol/message.ts";
import { type ResponseReader, readResponse } from "../transports/response-reader.ts";
import type { Call, McpTarget } from "../transports/target.ts";
import type { HttpSession } from "./session.ts";
import type { SessionCallContext } from "./session-call.ts";
import { openInSession } from "./session-request.ts";

/** Receives the messages on a target's GET stream. */
export interface HttpListenerSink {
  onMessage(message: Message): boolean;
  /** The target offers a stream. */
  onOpen(): void;
  /** The target offers no stream, or has ended it for good. Last call. */
  onRefused(): void;
}

/** Milliseconds before a stream that ended is reopened, unless the target names a time. */
const DEFAULT_RETRY = 1000;
const MAX_RETRY = 30_000;

/** The GET stream of one streamable HTTP target, reopened when it ends. */
export class HttpListener implements UpstreamHandler, Call {
  readonly #context: SessionCallContext;
  readonly #target: McpTarget;
  readonly #session: HttpSession;
  readonly #sink: HttpListenerSink;
  #request: UpstreamRequest | undefined;
  #reader: ResponseReader | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retry = DEFAULT_RETRY;
  #isOver = false;

  constructor(
    context: SessionCallContext,
    target: McpTarget,
    session: HttpSession,
    sink: HttpListenerSink,
  ) {
    this.#context = context;
    this.#target = target;
    this.#session = session;
    this.#sink = sink;
  }

  start(): void {
    const target = this.#target;
    if (target.kind !== "streamableHttp") {
      this.#refused();
      return;
    }
    const session = this.#session;
    const stream = { method: "GET", message: undefined, body: null } as const;
    const options = { target, session, lastEventId: this.#lastEventId, ...stream };
    this.#request = openInSession(this.#context, options, this);
  }

  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request?.abort();
  }

  resume(): void {
    this.#request?.resume();
  }

  onHead(status: number, headers: readonly string[]): void {
    const { exchange, backend } = this.#context;
    this.#reader = readResponse(headers, backend.limits.message, exchange.newBuffer());
    if (status === 200 && this.#reader?.kind === "sse") this.#sink.onOpen();
    else this.#refused();
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    const received = this.#reader?.push(chunk);
    if (received === undefined) {
      this.#refused();
      return true;
    }
    let isTaken = true;
    for (const { message, event } of received) {
      if (event?.id !== undefined) this.#lastEventId = event.id;
      if (event?.retry !== undefined) this.#retry = Number(event.retry) || DEFAULT_RETRY;
      // Responses belong to the POST with the request; a late one here has no recipient.
      if (message === undefined || message.kind === "response") continue;
      isTaken = this.#sink.onMessage(message) && isTaken;
    }
    return isTaken;
  }

  onEnd(): void {
    this.#again();
  }

  onError(): void {
    this.#retry = Math.min(2 * this.#retry, MAX_RETRY);
    this.#again();
  }

  #again(): void {
    if (this.#isOver) return;
    this.#timer = setTimeout(() => this.start(), this.#retry);
  }

  #refused(): void {
    if (this.#isOver) return;
    this.cancel();
    this.#sink.onRefused();
  }
}
