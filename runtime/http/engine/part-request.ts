import type { BodySink } from "../body/body.ts";
import type { Exchange } from "../exchange.ts";
import { withoutHeaders } from "../headers/header-list.ts";
import { isFieldValue, isToken } from "../http1/fields.ts";
import { acceptRequest } from "./accept-request.ts";
import type { EngineRequest, EngineResponse } from "./engine.ts";
import { EngineExchange } from "./engine-exchange.ts";

/** Receives the response to a part of a request. */
export interface PartListener {
  onHead(status: number, headers: readonly string[]): void;
  /** Returns false if the sender should wait until `drained` is called. */
  onData(piece: Uint8Array): boolean;
  /** Called once. `isComplete`: whether the response ended, and was not aborted. */
  onEnd(isComplete: boolean): void;
}

/** A part of a request that is served. */
export interface ServedPart {
  /** Ends the part as if its client had left. */
  abort(): void;
  /** Resumes a sender that waits. */
  drained(): void;
}

/**
 * Serves a part of a request's body as a request of its own: with the head as the client sent it, and with the rules, limits,
 * metrics and the log of its port.
 */
export function servePart(
  exchange: Exchange,
  body: Uint8Array,
  listener: PartListener,
): ServedPart {
  if (!(exchange instanceof EngineExchange) || exchange.port === undefined)
    throw new Error("the request was not received by a port");
  const response = new PartResponse(listener);
  acceptRequest(new PartRequest(exchange.received, body), response, {}, exchange.port);
  return response;
}

/** Fields that describe the body of the whole request and how it is sent. */
const WHOLE_ONLY: ReadonlySet<string> = new Set([
  "content-length",
  "transfer-encoding",
  "trailer",
  "te",
  "expect",
  "connection",
  "keep-alive",
  "upgrade",
]);

class PartRequest implements EngineRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly httpVersion: string;
  readonly acceptsTrailers = false;
  readonly trailers = undefined;
  readonly socket: EngineRequest["socket"];
  readonly #body: Buffer;

  constructor({ method, url, rawHeaders, httpVersion, socket }: EngineRequest, body: Uint8Array) {
    this.method = method;
    this.url = url;
    this.rawHeaders = withoutHeaders(rawHeaders, WHOLE_ONLY);
    this.rawHeaders.push("content-length", String(body.length));
    // Only a response of HTTP/1.0 resets its connection, which here belongs to other parts too.
    this.httpVersion = httpVersion === "1.0" ? "1.1" : httpVersion;
    this.socket = socket;
    this.#body = Buffer.from(body);
  }

  takeWhole(): Buffer {
    return this.#body;
  }

  flow(sink: BodySink): void {
    sink.onData(this.#body);
    sink.onEnd();
  }

  pause(): void {}
  resume(): void {}
  discard(): void {}
}

class PartResponse implements EngineResponse, ServedPart {
  statusCode = 0;
  headersSent = false;
  writableFinished = false;
  readonly #listener: PartListener;
  readonly #listeners: Record<"drain" | "close", (() => void)[]> = { drain: [], close: [] };
  #isClosed = false;

  constructor(listener: PartListener) {
    this.#listener = listener;
  }

  writeHead(status: number, head: readonly string[]): void {
    for (let at = 0; at < head.length; at += 2) {
      const isField = isToken(head[at] ?? "") && isFieldValue(head[at + 1] ?? "");
      if (!isField) throw new Error("a response has an invalid header");
    }
    this.statusCode = status;
    this.headersSent = true;
    this.#listener.onHead(status, head);
  }

  writeContinue(): void {}
  flushHead(): void {}
  setTrailers(): void {}

  write(chunk: Uint8Array): boolean {
    return this.#isClosed || this.#listener.onData(chunk);
  }

  end(chunk?: Uint8Array): void {
    if (chunk !== undefined && chunk.length > 0) this.write(chunk);
    this.writableFinished = true;
    this.#close();
  }

  destroy(): void {
    this.#close();
  }

  abort(): void {
    this.#close();
  }

  drained(): void {
    for (const listener of this.#listeners.drain) listener();
  }

  on(event: "drain" | "close", listener: () => void): void {
    this.#listeners[event].push(listener);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // As a connection does, after the caller has finished.
    setImmediate(() => {
      for (const listener of this.#listeners.close) listener();
      this.#listener.onEnd(this.writableFinished);
    });
  }
}
