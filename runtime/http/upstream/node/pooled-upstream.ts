import { isIP } from "node:net";
import { type Dispatcher, Pool } from "undici";
import type { Connect } from "../../../net/connector.ts";
import type { Lookup } from "../../../net/lookup.ts";
import { startupError } from "../../../process/startup-error.ts";
import { type BodySource, collect } from "../../body/body.ts";
import { CountedBuffer } from "../../body/counted-buffer.ts";
import { replaceHeader } from "../../headers/header-list.ts";
import type { Credential } from "../credential-file.ts";
import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamSettings,
} from "../upstream.ts";
import { type RequestCounts, requestCounts } from "../upstream-metrics.ts";
import { type Connectors, connectorsTo } from "./connectors.ts";
import { type CallExtras, PooledRequest } from "./pooled-request.ts";
import { sendUpgrade } from "./upgrade-request.ts";
import { UpstreamBody } from "./upstream-body.ts";

/** A destination that is reached over a pool of undici's connections. */
export class PooledUpstream implements Upstream {
  readonly name: string;
  readonly origin: string;
  readonly authority: string;
  readonly keepsHost: boolean;
  readonly path: string;
  readonly basePath: string;
  readonly takesTrailers: boolean;
  readonly #open: () => Pool;
  /** Made for the first call: of a thousand routes most may have none for a long time. */
  #pool: Pool | undefined;
  readonly #extras: CallExtras;
  readonly #connectors: Connectors;
  #upgradeConnect: Connect | undefined;
  readonly #countedAs: string;
  #counts: RequestCounts | undefined;
  #forgetPool: (() => void) | undefined;

  /** Throws StartupError on a malformed URL. */
  constructor(settings: UpstreamSettings, lookup: Lookup | undefined) {
    const url = parse(settings.url);
    const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
    const { requestTimeout, authorization, version } = settings;
    this.#extras = { requestTimeout, authorization, serverName: url.hostname };
    this.takesTrailers = version === "http2";
    this.name = `${url.hostname}:${port}`;
    this.#countedAs = settings.countedAs ?? this.name;
    this.origin = url.origin;
    this.authority = url.host;
    const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0;
    this.keepsHost = settings.keepsHost ?? isAddress;
    this.path = `${url.pathname}${url.search}`;
    this.basePath = url.pathname.replace(/\/$/, "");
    this.#connectors = connectorsTo(url, settings, lookup);
    const options: Pool.Options = {
      connect: this.#connectors.undici,
      // A model may think for minutes and an event stream may be silent for hours. Who waits decides how long: the
      // client by leaving, a timeout policy by aborting; TCP keepalive finds peers that are gone.
      headersTimeout: 0,
      bodyTimeout: 0,
      // HTTP/2 carries its requests side by side; HTTP/1.1 would make them wait for each other.
      pipelining: version === "http2" ? 100 : 1,
      allowH2: version !== undefined,
      maxHeaderSize: 65_536,
    };
    this.#open = () => new Pool(url.origin, options);
  }

  send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest {
    // Behind a server of the configuration a tunnel would lead wherever that server lets it.
    if (call.method === "CONNECT") return refusedTunnel(handler);
    this.#pool ??= this.#open();
    this.#count(this.#pool);
    const request = new PooledRequest(this.#pool, handler, this.#extras, this.#counts);
    const { body } = call;
    setCredential(call.headers, this.#extras.authorization);
    if (isSource(body) && body.length !== undefined && body.length <= oneWrite) {
      const buffer = new CountedBuffer(undefined);
      collect(body, oneWrite, buffer, (bytes) => sendCollected(call, bytes, request));
    } else {
      request.dispatch(dispatchOptions(call));
    }
    return request;
  }

  upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest {
    const { authorization, requestTimeout } = this.#extras;
    setCredential(call.headers, authorization);
    this.#upgradeConnect ??= this.#connectors.http1();
    return sendUpgrade(call, protocol, handler, { connect: this.#upgradeConnect, requestTimeout });
  }

  /** From the first request on that a gateway makes. */
  #count(pool: Pool): void {
    if (this.#counts !== undefined) return;
    this.#counts = requestCounts(this.#countedAs);
    this.#forgetPool = this.#counts?.pool(pool);
  }

  close(): void {
    this.#forgetPool?.();
    this.#pool?.close().catch(() => {});
  }
}

function refusedTunnel(handler: UpstreamHandler): UpstreamRequest {
  const failure = { kind: "connect", isForbidden: true, detail: "a tunnel to no proxy" } as const;
  const timer = setImmediate(() => handler.onError(failure));
  return { abort: () => clearImmediate(timer), resume: () => {} };
}

function setCredential(headers: string[], value: string | Credential | undefined): void {
  if (value === undefined) return;
  replaceHeader(headers, "authorization", typeof value === "string" ? value : value());
}

function parse(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url;
  throw startupError(`"${text.replace(/\/\/[^/]*@/, "//")}" is not the URL of an HTTP server`);
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
  if (!isSource(body)) return { method: httpMethod(method), path, headers, body };
  if (body.length !== undefined) headers.push("content-length", String(body.length));
  return { method: httpMethod(method), path, headers, body: new UpstreamBody(body) };
}

function isSource(body: UpstreamCall["body"]): body is BodySource {
  return body !== null && typeof body === "object" && "flow" in body;
}

/** undici's type lists the registered methods; its code takes any token. */
function httpMethod(method: string): Dispatcher.HttpMethod {
  return method as Dispatcher.HttpMethod;
}
