import { type BodySource, isBodySource } from "../http/body/body.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import type { CallSpan } from "../http/exchange-trace.ts";
import { headerValue } from "../http/headers/header-list.ts";
import { endToEnd } from "../http/headers/hop-by-hop.ts";
import { sendableTrailers } from "../http/headers/trailers.ts";
import type { ReceivedFields } from "../http/http1/received-fields.ts";
import { refuse } from "../http/refuse.ts";
import { forwardedTarget } from "../http/routing/dispatch.ts";
import { describeCall, tracedLines, upgradeTraced } from "../http/upstream/traced-request.ts";
import type {
  UpgradeHandler,
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamTunnel,
} from "../http/upstream/upstream.ts";

/** The servers of one request. */
export interface ServerChoice {
  /** A server for the next attempt: one that was not tried yet, if there is any. */
  next(): Upstream;
  /** `next` gives a server that was not tried yet. */
  readonly hasUntried: boolean;
}

/**
 * Sends the request to an upstream and its response to the client. `choice`: the upstream is one of several, and another
 * one gets the request if nothing of it was sent.
 */
export function forward(exchange: Exchange, upstream: Upstream, choice?: ServerChoice): void {
  exchange.record.upstream = upstream.name;
  const unsent = choice && ((failure: UpstreamFailure) => moveUnsent(exchange, failure, choice));
  if (exchange.upgrade !== undefined) {
    tunnel(exchange, upstream, upstreamCall(exchange, upstream), exchange.upgrade, unsent);
    return;
  }
  const span = exchange.trace?.beginCall(exchange.upstreamMethod);
  const relay = new Relay(exchange, span, unsent);
  relay.start(
    sendLines(exchange, upstream, span, relay) ?? sendList(exchange, upstream, span, relay),
  );
}

/** The same to one of several servers. */
export function forwardChosen(exchange: Exchange, choice: ServerChoice): void {
  forward(exchange, choice.next(), choice);
}

/**
 * Sends a request to another server if nothing of it was sent to the one before: whatever its method is, it is done once.
 * False: there is none, or it may have been sent.
 */
function moveUnsent(exchange: Exchange, failure: UpstreamFailure, choice: ServerChoice): boolean {
  if (!isMovable(failure) || exchange.isOver || !choice.hasUntried) return false;
  keepUnsent(exchange, failure);
  forward(exchange, choice.next(), choice);
  return true;
}

/** Whether another server may get what this failure is about. */
export function isMovable({ unsent, isForbidden, isDenied }: UpstreamFailure): boolean {
  return unsent !== undefined && isForbidden !== true && isDenied !== true;
}

/** Gives the request its body back, where it was read for a connection that could not be opened. */
export function keepUnsent(exchange: Exchange, { unsent }: UpstreamFailure): void {
  const body = unsent?.body;
  if (!isBodySource(exchange.body)) return;
  if (typeof body === "string") exchange.setRequestBody(Buffer.from(body));
  else if (body instanceof Uint8Array) exchange.setRequestBody(body);
}

/** Most requests go on with the lines that came: nobody takes them apart. Undefined: this one does not. */
function sendLines(
  exchange: Exchange,
  upstream: Upstream,
  span: CallSpan | undefined,
  relay: Relay,
): UpstreamRequest | undefined {
  const { requestLines, upstreamMethod: method, body } = exchange;
  if (upstream.sendLines === undefined) return undefined;
  // What stands behind a body in chunks has to be judged by the list.
  if (requestLines === undefined || (isBodySource(body) && body.length === undefined)) {
    return undefined;
  }
  const path = pathFor(exchange, upstream);
  span?.asks(upstream, method, path);
  const sent = span === undefined ? requestLines : tracedLines(exchange, requestLines, span);
  const lines = `${sent}host: ${hostFor(exchange, upstream)}\r\n`;
  return upstream.sendLines({ method, path, lines, body }, relay);
}

function sendList(
  exchange: Exchange,
  upstream: Upstream,
  span: CallSpan | undefined,
  relay: Relay,
): UpstreamRequest {
  const call = upstreamCall(exchange, upstream);
  if (span !== undefined) describeCall(span, upstream, call);
  return upstream.send(call, relay);
}

/** The request as it goes to an upstream. */
export function upstreamCall(exchange: Exchange, upstream: Upstream): UpstreamCall {
  const { upstreamMethod: method, body } = exchange;
  const path = pathFor(exchange, upstream);
  const headers = endToEnd(exchange.requestHeaders, "host");
  headers.push("host", hostFor(exchange, upstream));
  // It belongs to one connection, and the next one has to be told as well.
  if (exchange.acceptsTrailers && upstream.takesTrailers) headers.push("te", "trailers");
  const mayTrail = isBodySource(body) && body.length === undefined;
  const announced = mayTrail ? exchange.requestTrailers?.announced : undefined;
  if (announced !== undefined) headers.push("trailer", announced);
  return { method, path, headers, body, exchange, trailers: exchange.requestTrailers };
}

function pathFor(exchange: Exchange, { basePath }: Upstream): string {
  const target = forwardedTarget(exchange);
  // `*` is no path (RFC 9110 9.3.7).
  return target === "*" ? target : basePath + target;
}

/** What a policy decided; else the upstream's own name, or the one that the client used. */
function hostFor({ upstreamHost, host }: Exchange, { keepsHost, authority }: Upstream): string {
  if (upstreamHost === undefined) return keepsHost && host !== "" ? host : authority;
  return upstreamHost ?? authority;
}

/** Passes one response of an upstream on to the client. */
export class Relay implements UpstreamHandler {
  readonly #exchange: Exchange;
  readonly #span: CallSpan | undefined;
  readonly #move: ((failure: UpstreamFailure) => boolean) | undefined;
  #request: UpstreamRequest | undefined;
  #unwanted = 0;

  /**
   * `span`: that of the request, which ends with it; absent: it has none, or another one sees to it. `move`: sends the
   * request elsewhere after a failure, and returns whether it did; absent: there is no other server.
   */
  constructor(
    exchange: Exchange,
    span?: CallSpan,
    move?: ((failure: UpstreamFailure) => boolean) | undefined,
  ) {
    this.#exchange = exchange;
    this.#span = span;
    this.#move = move;
  }

  /** The request whose response comes; it ends when the client leaves. */
  start(request: UpstreamRequest): void {
    this.#request = request;
    this.#exchange.onAbort(() => this.#abort());
  }

  onHead(status: number, headers: readonly string[]): void {
    this.#span?.responded(status);
    this.#passHead(status, headers);
  }

  onFields(status: number, fields: ReceivedFields): void {
    this.#span?.responded(status);
    const { acceptsTrailers, upstreamMethod, original } = this.#exchange;
    if (acceptsTrailers || upstreamMethod !== original.method) this.#passHead(status, fields.list);
    else this.#exchange.passHead(status, fields);
  }

  onData(chunk: Buffer): boolean {
    if (this.#exchange.isOver) return this.#drop(chunk);
    if (this.#exchange.write(chunk)) return true;
    this.#exchange.onDrain(() => this.#request?.resume());
    return false;
  }

  get holdsNothing(): boolean {
    return this.#exchange.holdsNothing;
  }

  onEnd(trailers?: readonly string[]): void {
    this.#span?.completed();
    if (trailers === undefined) {
      this.#exchange.end();
      return;
    }
    this.#noteStatus(trailers);
    this.#exchange.end(sendableTrailers(trailers));
  }

  onError(failure: UpstreamFailure): void {
    this.#span?.end(failure.kind);
    const exchange = this.#exchange;
    // The client has another response already, or has left.
    if (exchange.isOver || this.#move?.(failure) === true) return;
    logFields(exchange.record).set("error", failure.detail);
    if (exchange.headersSent && !exchange.withdrawResponse()) {
      // The client must see that the response is not complete.
      exchange.record.reason = "UpstreamFailure";
      exchange.abort();
      return;
    }
    if (failure.isUnauthorized === true) {
      const { status, reason, message, headers } = unauthorized;
      refuse(exchange, status, reason, message, headers);
      return;
    }
    const { status, reason, message } = refusalOf(failure);
    refuse(exchange, status, reason, message);
  }

  #passHead(status: number, headers: readonly string[]): void {
    const { upstreamMethod, original } = this.#exchange;
    // The length that a response to HEAD announces is not that of a response to what the client asked.
    const isBodiless = upstreamMethod === "HEAD" && original.method !== "HEAD";
    const length = isBodiless ? 0 : contentLength(headers);
    if (this.#exchange.acceptsTrailers && this.#noteStatus(headers)) {
      // gRPC's status in the head: these are trailers alone, and the head has to end the response.
      this.#exchange.respond(status, endToEnd(headers, ""));
      return;
    }
    this.#exchange.writeHead(status, endToEnd(headers, ""), length);
  }

  /** Notes gRPC's status for the log; whether there is one. */
  #noteStatus(fields: readonly string[]): boolean {
    const status = headerValue(fields, "grpc-status");
    if (status === undefined) return false;
    const { record } = this.#exchange;
    logFields(record).set("grpc.status", status);
    return true;
  }

  /** The client has another response already. */
  #drop(chunk: Buffer): true {
    this.#unwanted += chunk.length;
    if (this.#unwanted > MAX_UNWANTED) this.#abort();
    return true;
  }

  #abort(): void {
    this.#span?.end("aborted");
    this.#request?.abort();
  }
}

/** Bytes of a response that nobody wants which are read all the same: its connection can then be kept. */
const MAX_UNWANTED = 65_536;

function refusalOf({ kind, isForbidden, isDenied }: UpstreamFailure) {
  if (isDenied === true) return denied;
  return isForbidden === true ? forbidden : refusals[kind];
}

/** What the client gets when there is no response. */
const refusals = {
  connect: { status: 503, reason: "UpstreamFailure", message: "upstream is not reachable" },
  timeout: { status: 504, reason: "Timeout", message: "upstream did not answer in time" },
  closed: { status: 502, reason: "UpstreamFailure", message: "upstream closed the connection" },
  protocol: { status: 502, reason: "UpstreamFailure", message: "upstream gave no valid response" },
} as const;

/** What the client gets when it may not reach what it asked for. */
export const forbidden = {
  status: 403,
  reason: "ForbiddenDestination",
  message: "this destination is not allowed",
} as const;

/** What the client gets when the rules of the backend forbid its request. */
const denied = { status: 403, reason: "Authorization", message: "authorization failed" } as const;

/** What the client gets when its token is none that the backend could be shown another one for (RFC 6750 3). */
const unauthorized = {
  status: 401,
  reason: "JwtAuth",
  message: "authentication failure: the token is not valid for this backend",
  headers: ["www-authenticate", "Bearer"],
} as const;

/** The body's length when the upstream announced it. That it is one number was checked when it was read. */
function contentLength(headers: readonly string[]): number | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (name.length === 14 && name.toLowerCase() === "content-length") {
      return Number(headers[i + 1]);
    }
  }
  return undefined;
}

/**
 * Asks the upstream for the protocol that the client asks for (WebSocket, ...). Bytes pass only once the upstream has
 * agreed to it: a client can't have a tunnel by asking alone. Any other response goes to the client as it is.
 */
export function tunnel(
  exchange: Exchange,
  upstream: Upstream,
  call: UpstreamCall,
  protocol: string,
  move?: (failure: UpstreamFailure) => boolean,
): void {
  const relay = new TunnelRelay(exchange, protocol, move);
  relay.start(upgradeTraced(exchange.trace, upstream, call, protocol, relay));
}

/** Passes the bytes of another protocol on, both ways. */
export class TunnelRelay extends Relay implements UpgradeHandler {
  readonly #exchange: Exchange;
  readonly #protocol: string;
  #leave: (() => void) | undefined;

  /** `move`: as of `Relay`. */
  constructor(exchange: Exchange, protocol: string, move?: (failure: UpstreamFailure) => boolean) {
    super(exchange, undefined, move);
    this.#exchange = exchange;
    this.#protocol = protocol;
  }

  onSwitch(headers: readonly string[], upstream: UpstreamTunnel): void {
    const exchange = this.#exchange;
    const agreed = headerValue(headers, "upgrade");
    if (agreed?.toLowerCase() !== this.#protocol.toLowerCase()) {
      this.onError({ kind: "protocol", detail: "changed to a protocol that nobody asked for" });
      upstream.end();
      return;
    }
    const client: BodySource = exchange.switchProtocols(endToEnd(headers, ""));
    upstream.onDrain(() => client.resume());
    client.flow({
      onData: (chunk) => {
        if (!upstream.write(chunk)) client.pause();
      },
      onEnd: () => upstream.end(),
      // The relay hears of it from the exchange.
      onAbort: () => {},
    });
    const forget = exchange.gateway.onDrainDeadline(() => exchange.abort());
    exchange.onAbort(forget);
    const leave = () => {
      forget();
      client.discard();
    };
    this.#leave = leave;
  }

  override onEnd(): void {
    super.onEnd();
    this.#leave?.();
  }
}
