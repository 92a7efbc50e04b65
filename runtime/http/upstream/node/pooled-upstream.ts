import type { Dispatcher, Pool as UndiciPool } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import type { Lookup } from "../../../net/lookup.ts";
import { collect, isBodySource } from "../../body/body.ts";
import { CountedBuffer } from "../../body/counted-buffer.ts";
import type {
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../upstream.ts";
import { PooledRequest } from "./pooled-request.ts";
import { ServerUpstream } from "./server-upstream.ts";
import { UpstreamBody } from "./upstream-body.ts";

/** A server that is asked over a pool of undici's connections. */
export class PooledUpstream extends ServerUpstream {
  override readonly takesTrailers = false;
  readonly #options: UndiciPool.Options;
  /** Made for the first call: of a thousand routes most may have none for a long time. */
  #pool: UndiciPool | undefined;

  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    super(settings, lookup);
    this.#options = {
      connect: this.connectors.undici,
      // A model may think for minutes and an event stream may be silent for hours. Who waits decides how long: the
      // client by leaving, a timeout policy by aborting; TCP keepalive finds peers that are gone.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Requests of HTTP/1.1 would wait for each other.
      pipelining: 1,
      allowH2: settings.version !== undefined,
      maxHeaderSize: 65_536,
    };
  }

  protected override sendRequest(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    this.#pool ??= new Pool(this.origin, this.#options);
    const extras = { requestTimeout: this.requestTimeout, serverName: this.url.hostname };
    const request = new PooledRequest(this.#pool, handler, extras, this.countsOf(this.#pool));
    const { body } = call;
    if (isBodySource(body) && body.length !== undefined && body.length <= oneWrite) {
      const buffer = new CountedBuffer(undefined);
      collect(body, oneWrite, buffer, (bytes) => sendCollected(call, bytes, request));
    } else {
      request.dispatch(dispatchOptions(call));
    }
    return request;
  }

  protected override closePool(): void {
    this.#pool?.close().catch(() => {});
  }
}

function sendCollected(call: UpstreamCall, bytes: Buffer | string, request: PooledRequest): void {
  if (request.isOver) return;
  if (typeof bytes === "string") {
    request.onResponseError(null, new Error(`request body: ${bytes}`));
    return;
  }
  const { method, path, headers } = call;
  request.dispatch({ method: httpMethod(method), path, headers, body: bytes });
}

/** Bodies up to this many bytes are collected and sent in one write with the head: half the cost of a stream. */
const oneWrite = 16_384;

function dispatchOptions(call: UpstreamCall): Dispatcher.DispatchOptions {
  const { method, path, headers, body } = call;
  if (!isBodySource(body)) return { method: httpMethod(method), path, headers, body };
  if (body.length !== undefined) headers.push("content-length", String(body.length));
  return { method: httpMethod(method), path, headers, body: new UpstreamBody(body) };
}

/** undici's type lists the registered methods; its code takes any token. */
function httpMethod(method: string): Dispatcher.HttpMethod {
  return method as Dispatcher.HttpMethod;
}
