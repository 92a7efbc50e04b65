import type { Dispatcher, Pool } from "undici";
import { CountedRequest } from "../counted-request.ts";
import type { UpstreamFailure, UpstreamHandler } from "../upstream.ts";
import { connectFailure } from "../upstream-failures.ts";
import type { RequestCounts } from "../upstream-metrics.ts";
import { isSafe } from "./safe-methods.ts";

/** What is the same for every request to a destination. */
export interface CallExtras {
  /** Milliseconds to the head of the response. */
  readonly requestTimeout: number | undefined;
  /** The destination's name for TLS. */
  readonly serverName: string;
}

/** undici's options, with one that its type does not list. */
type Options = Dispatcher.DispatchOptions & { readonly servername?: string };

/** One call: undici's handler on one side, ours on the other. */
export class PooledRequest extends CountedRequest implements Dispatcher.DispatchHandler {
  readonly #pool: Pool;
  readonly #serverName: string;
  #controller: Dispatcher.DispatchController | undefined;
  #options: Options | undefined;
  #canRepeat = false;
  /** Some of the body came faster than it was taken. */
  #hasWaited = false;

  /** `counts`: undefined while nobody counts. */
  constructor(
    pool: Pool,
    handler: UpstreamHandler,
    { requestTimeout, serverName }: CallExtras,
    counts: RequestCounts | undefined,
  ) {
    super(handler, requestTimeout, counts);
    this.#pool = pool;
    this.#serverName = serverName;
  }

  dispatch(options: Dispatcher.DispatchOptions): void {
    // undici would take SNI from the Host that the request carries, and open a connection for each.
    this.#options = { ...options, servername: this.#serverName };
    this.#canRepeat = options.body === null && isSafe(options.method);
    this.#pool.dispatch(this.#options, this);
  }

  override resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isOver) controller.abort(aborted);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    this.#canRepeat = false;
    if (this.isOver) return;
    if (status < 200) {
      this.onInterim();
      return;
    }
    const headers = decode(controller.rawHeaders);
    if (isReadable(headers)) this.onHead(status, headers);
    else this.giveUp(unknownCoding);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver || this.handler.onData(chunk)) return;
    this.#hasWaited = true;
    controller.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.isOver) return;
    const trailers = decode(controller.rawTrailers);
    // With trailers of HTTP/2 undici drops what of the body nobody had taken yet.
    const isCut = this.#hasWaited && trailers.length > 0 && !Array.isArray(controller.rawTrailers);
    if (isCut) this.fail(cutByTrailers);
    else this.complete(trailers.length === 0 ? undefined : trailers);
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
    this.fail(failure);
  }

  protected override breakOff(): void {
    this.#controller?.abort(aborted);
  }
}

/** The rest of the body can't be had. */
const cutByTrailers: UpstreamFailure = {
  kind: "protocol",
  detail: "trailers of HTTP/2 behind a body that had to wait; `http.version: HTTP2` takes them",
};

/** The body of the response is coded in a way that nobody asked for. */
const unknownCoding: UpstreamFailure = {
  kind: "protocol",
  detail: "a transfer coding but chunked",
};

/** Whether the body is what the parser gives: it takes off `chunked`, and no other transfer coding (RFC 9112 7). */
function isReadable(headers: readonly string[]): boolean {
  let codings = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (name.length !== 17 || name.toLowerCase() !== "transfer-encoding") continue;
    codings += 1;
    if (codings > 1 || headers[i + 1]?.toLowerCase() !== "chunked") return false;
  }
  return true;
}

/** Why a call that nobody waits for ends; never shown. */
const aborted = new Error("aborted");

function decode(raw: Dispatcher.DispatchController["rawHeaders"]): string[] {
  const list: string[] = [];
  if (!Array.isArray(raw)) return decodeHttp2(raw ?? {});
  // HTTP/1.1 responses come as a flat list of buffers.
  for (const part of raw as Buffer[]) list.push(part.toString("latin1"));
  return list;
}

/** HTTP/2 responses come as an object; pseudo headers (`:status`) are no headers to anybody else. */
function decodeHttp2(raw: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(raw).flatMap(([name, value]) =>
    name.startsWith(":") ? [] : [value].flat().flatMap((each) => [name, String(each)]),
  );
}

/** The response before had announced the end in its trailers, where undici overlooks it: this one is not read. */
const endInTrailers = "Data after `Connection: close`";

function classify(error: NodeJS.ErrnoException, wasSent: boolean): UpstreamFailure {
  const detail = error.message;
  if (!wasSent) return connectFailure(error);
  switch (error.code) {
    case "UND_ERR_HEADERS_TIMEOUT":
    case "UND_ERR_BODY_TIMEOUT":
      return { kind: "timeout", detail };
    case "UND_ERR_SOCKET":
    case "ECONNRESET":
    case "EPIPE":
      return { kind: "closed", detail };
    default:
      return { kind: detail.includes(endInTrailers) ? "closed" : "protocol", detail };
  }
}
