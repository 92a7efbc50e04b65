import type { Exchange } from "../../http/exchange.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import { type Message, withId } from "../protocol/message.ts";
import type { McpBackend } from "../transports/backend.ts";
import { type Received, type ResponseReader, readResponse } from "../transports/response-reader.ts";
import type { Call, CallSink, StreamableHttpTarget, TargetFailure } from "../transports/target.ts";
import type { HttpSession } from "./session.ts";
import { openInSession, type SessionOwner } from "./session-request.ts";

/** Milliseconds before a stream that the server closed is asked for the rest, when it names no time itself. */
const defaultRetry = 1000;

/** What a call needs to know of the client's request. */
export interface HttpCallContext {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly session: SessionOwner;
}

/** One message to a streamable HTTP target, and what comes back for it. */
export class HttpCall implements UpstreamHandler, Call {
  readonly #context: HttpCallContext;
  readonly #target: StreamableHttpTarget;
  readonly #session: HttpSession;
  readonly #sink: CallSink;
  #message: Message | undefined;
  #request: UpstreamRequest | undefined;
  #reader: ResponseReader | undefined;
  #lastEventId: string | undefined;
  #retry = defaultRetry;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    context: HttpCallContext,
    target: StreamableHttpTarget,
    session: HttpSession,
    sink: CallSink,
  ) {
    this.#context = context;
    this.#target = target;
    this.#session = session;
    this.#sink = sink;
  }

  send(message: Message): void {
    this.#message = message;
    this.#open("POST", message.text);
  }

  /** Ends the call: the connection is closed at once. */
  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request?.abort();
  }

  resume(): void {
    this.#request?.resume();
  }

  onHead(status: number, headers: readonly string[]): void {
    if (status < 200 || status > 299) {
      const kind = status === 404 ? "session" : "status";
      this.#fail({ kind, detail: `answered with ${status}` });
      return;
    }
    if (this.#message?.method === "initialize") {
      this.#session.id = headerValue(headers, "mcp-session-id") ?? "";
    }
    const { exchange, backend } = this.#context;
    this.#reader = readResponse(headers, backend.limits.message, exchange.newBuffer());
    if (this.#reader === undefined && this.#message?.kind === "request") {
      this.#fail({ kind: "protocol", detail: "answered with neither JSON nor an event stream" });
    }
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver || this.#reader === undefined) return true;
    return this.#take(this.#reader.push(chunk));
  }

  onEnd(): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    if (this.#message?.kind !== "request") {
      this.#isOver = true;
      if (this.#message !== undefined) this.#sink.onResponse(this.#message);
      return;
    }
    if (this.#reader !== undefined) this.#take(this.#reader.end());
    if (this.#isOver) return;
    // The server may close a stream early and be asked for the rest (SEP-1699, revision 2025-11-25).
    if (this.#lastEventId !== undefined) {
      this.#timer = setTimeout(() => this.#open("GET", null), this.#retry);
    } else {
      this.#fail({ kind: "protocol", detail: "ended its stream without a response" });
    }
  }

  onError(failure: UpstreamFailure): void {
    clearTimeout(this.#timer);
    this.#fail(failure);
  }

  #open(method: "GET" | "POST", body: string | null): void {
    const [target, session, lastEventId] = [this.#target, this.#session, this.#lastEventId];
    const message = method === "POST" ? this.#message : undefined;
    const options = { target, session, lastEventId, method, message, body };
    this.#request = openInSession(this.#context, options, this);
  }

  #take(received: readonly Received[] | undefined): boolean {
    if (received === undefined) {
      this.#fail({ kind: "protocol", detail: "answered with something that is no message" });
      return true;
    }
    let isTaken = true;
    for (const { message, event } of received) {
      if (this.#isOver) return true;
      if (event?.id !== undefined) this.#lastEventId = event.id;
      if (event?.retry !== undefined) this.#retry = Number(event.retry) || defaultRetry;
      if (message === undefined) continue;
      if (message.kind === "response") this.#settle(message);
      else isTaken = this.#sink.onMessage(message) && isTaken;
    }
    return isTaken;
  }

  /** The response is the last thing on its stream; a server that keeps the stream open is not waited for. */
  #settle(response: Message): void {
    this.#isOver = true;
    if (this.#reader?.kind === "sse") {
      this.#timer = setTimeout(() => this.#request?.abort(), defaultRetry);
    }
    this.#sink.onResponse(withId(response, this.#message?.id ?? response.id));
  }

  #fail(failure: TargetFailure): void {
    if (this.#isOver) return;
    this.cancel();
    this.#sink.onFailure(failure);
  }
}
