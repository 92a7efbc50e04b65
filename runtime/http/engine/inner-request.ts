import { type BodySink, type BodySource, isBodySource } from "../body/body.ts";
import { isFieldValue, isToken } from "../http1/fields.ts";
import type { EngineConnection, EngineRequest, EngineResponse, EngineUpgrade } from "./engine.ts";

/** Receives the response to a request that the gateway sends to itself. */
export interface InnerListener {
  onHead(status: number, headers: readonly string[]): void;
  /** Returns false if the sender should wait until `drained` is called. */
  onData(piece: Uint8Array): boolean;
  /** Called once. `isComplete`: whether the response ended, and was not aborted. */
  onEnd(isComplete: boolean): void;
}

/** A request that the gateway serves itself. */
export interface InnerCall {
  /** Ends it as if its client had left. */
  abort(): void;
  /** Resumes a sender that waits. */
  drained(): void;
}

/** Parts of a request that the gateway sends to itself. */
export interface InnerParts {
  readonly method: string;
  /** Target in origin form. */
  readonly url: string;
  /** Flat header list, with Host. */
  readonly headers: readonly string[];
  readonly body: string | Uint8Array | BodySource | null;
  /** `1.1`, `1.0` or `2`. */
  readonly httpVersion: string;
  /** Connection of the client that caused it. */
  readonly socket: EngineConnection;
}

/** A request that the gateway sends to itself, as an engine would have read it. */
export class InnerRequest implements EngineRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly httpVersion: string;
  readonly acceptsTrailers = false;
  readonly trailers = undefined;
  readonly socket: EngineConnection;
  readonly #body: Buffer | BodySource;

  constructor({ method, url, headers, body, httpVersion, socket }: InnerParts) {
    this.method = method;
    this.url = url;
    this.rawHeaders = [...headers];
    // Only a response of HTTP/1.0 resets its connection, which here belongs to other requests too.
    this.httpVersion = httpVersion === "1.0" ? "1.1" : httpVersion;
    this.socket = socket;
    this.#body = isBodySource(body) ? body : innerBytes(body ?? "");
  }

  /** Announced bytes of the body; `undefined` if it arrives in pieces without a length. */
  get length(): number | undefined {
    return this.#body.length;
  }

  takeWhole(): Buffer | undefined {
    return isBodySource(this.#body) ? this.#body.takeWhole?.() : this.#body;
  }

  flow(sink: BodySink): void {
    if (isBodySource(this.#body)) {
      this.#body.flow(sink);
      return;
    }
    sink.onData(this.#body);
    sink.onEnd();
  }

  pause(): void {
    if (isBodySource(this.#body)) this.#body.pause();
  }

  resume(): void {
    if (isBodySource(this.#body)) this.#body.resume();
  }

  discard(): void {
    if (isBodySource(this.#body)) this.#body.discard();
  }
}

/** Returns the bytes of a body, which are not copied. */
export function innerBytes(body: string | Uint8Array): Buffer {
  if (typeof body === "string") return Buffer.from(body);
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** The response to a request that the gateway sends to itself. */
export class InnerResponse implements EngineResponse, InnerCall {
  statusCode = 0;
  headersSent = false;
  writableFinished = false;
  readonly #listener: InnerListener;
  readonly #listeners: Record<"drain" | "close", (() => void)[]> = { drain: [], close: [] };
  #isClosed = false;
  readonly upgrade?: EngineUpgrade;

  /** `upgrade`: the protocol that the request asks for; absent for HTTP. */
  constructor(listener: InnerListener, upgrade?: EngineUpgrade) {
    this.#listener = listener;
    if (upgrade !== undefined) this.upgrade = upgrade;
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
