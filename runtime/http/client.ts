import { isIP } from "node:net";
import { type Dispatcher, Pool } from "undici";
import { lateError } from "../gateway/startup-error.ts";
import { type BodySource, collect } from "./body.ts";
import type {
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "./upstream.ts";
import { UpstreamBody } from "./upstream-body.ts";

/**
 * Opens a pool of connections to one destination. Nothing is connected before the first call. Throws StartupError on a
 * malformed URL.
 */
export function openUpstream(settings: UpstreamSettings): Upstream {
  return new PooledUpstream(settings);
}

class PooledUpstream implements Upstream {
  readonly name: string;
  readonly origin: string;
  readonly authority: string;
  readonly isAddress: boolean;
  readonly path: string;
  readonly #pool: Pool;

  constructor(settings: UpstreamSettings) {
    const url = parse(settings.url);
    const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
    this.name = `${url.hostname}:${port}`;
    this.origin = url.origin;
    this.authority = url.host;
    this.isAddress = isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0;
    this.path = `${url.pathname}${url.search}`;
    this.#pool = new Pool(url.origin, {
      connectTimeout: settings.connectTimeout,
      // A model may think for minutes and an event stream may be silent for hours. Who waits decides how long: the
      // client by leaving, a timeout policy by aborting; TCP keepalive finds peers that are gone.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: 65_536,
    });
  }

  send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    const request = new PooledRequest(this.#pool, handler);
    const { body } = call;
    if (isSource(body) && body.length !== undefined && body.length <= oneWrite) {
      collect(body, oneWrite, (bytes) => sendCollected(call, bytes, request));
    } else {
      request.dispatch(dispatchOptions(call));
    }
    return request;
  }

  close(): void {
    this.#pool.close().catch(() => {});
  }
}

function parse(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url;
  throw lateError(`"${text.replace(/\/\/[^/]*@/, "//")}" is not the URL of an HTTP server`);
}

function sendCollected(call: UpstreamCall, bytes: Buffer | string, request: PooledRequest): void {
  if (request.isOver) return;
  if (typeof bytes === "string") {
    request.onResponseError(null, new Error(`request body: ${bytes}`));
    return;
  }
  const { method, path, headers } = call;
  request.dispatch({ method: verb(method), path, headers, body: bytes });
}

/** Bodies up to this many bytes are collected and sent in one write with the head: half the cost of a stream. */
const oneWrite = 16_384;

function dispatchOptions(call: UpstreamCall): Dispatcher.DispatchOptions {
  const { method, path, headers, body } = call;
  if (!isSource(body)) return { method: verb(method), path, headers, body };
  if (body.length !== undefined) headers.push("content-length", String(body.length));
  return { method: verb(method), path, headers, body: new UpstreamBody(body) };
}

function isSource(body: UpstreamCall["body"]): body is BodySource {
  return body !== null && typeof body === "object" && "flow" in body;
}

/** undici's type lists the usual methods; its code takes any token. */
function verb(method: string): Dispatcher.HttpMethod {
  return method as Dispatcher.HttpMethod;
}

/** One call: undici's handler on one side, ours on the other. */
class PooledRequest implements Dispatcher.DispatchHandler, UpstreamRequest {
  readonly #pool: Pool;
  readonly #handler: UpstreamHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #options: Dispatcher.DispatchOptions | undefined;
  #canRepeat = false;
  /** Nothing more goes to the handler. */
  isOver = false;

  constructor(pool: Pool, handler: UpstreamHandler) {
    this.#pool = pool;
    this.#handler = handler;
  }

  dispatch(options: Dispatcher.DispatchOptions): void {
    this.#options = options;
    this.#canRepeat = options.body === null && isSafe(options.method);
    this.#pool.dispatch(options, this);
  }

  abort(): void {
    this.isOver = true;
    this.#controller?.abort(aborted);
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isOver) controller.abort(aborted);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    this.#canRepeat = false;
    if (status < 200 || this.isOver) return;
    this.#handler.onHead(status, decode(controller.rawHeaders));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.isOver && !this.#handler.onData(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#handler.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.isOver) return;
    const failure = classify(error, this.#controller !== undefined);
    // A server closes idle connections, and a request may meet that on its way: once, it is sent again (RFC 9112 9.3.1).
    if (failure.kind === "closed" && this.#canRepeat && this.#options !== undefined) {
      this.#canRepeat = false;
      this.#pool.dispatch(this.#options, this);
      return;
    }
    this.isOver = true;
    this.#handler.onError(failure);
  }
}

/** RFC 9110 9.2.1, as far as such requests have no body. */
function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** Why a call that nobody waits for ends; never shown. */
const aborted = new Error("aborted");

function decode(raw: Dispatcher.DispatchController["rawHeaders"]): string[] {
  const list: string[] = [];
  // HTTP/1.1 answers come as a flat list of buffers.
  for (const part of raw as Buffer[]) list.push(part.toString("latin1"));
  return list;
}

function classify(error: NodeJS.ErrnoException, wasSent: boolean): UpstreamFailure {
  const detail = error.message;
  if (!wasSent) return { kind: "connect", detail };
  switch (error.code) {
    case "UND_ERR_HEADERS_TIMEOUT":
    case "UND_ERR_BODY_TIMEOUT":
      return { kind: "timeout", detail };
    case "UND_ERR_SOCKET":
    case "ECONNRESET":
    case "EPIPE":
      return { kind: "closed", detail };
    default:
      return { kind: "protocol", detail };
  }
}
