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
import type { Borrower } from "../net/socket-reads.ts";

/** The servers for one request. */
export interface ServerChoice {
  /** Returns a server for the next attempt, preferably one that was not tried. */
  next(): Upstream;
  /** Whether `next` returns a server that was not tried. */
  readonly hasUntried: boolean;
}

/**
 * Forwards the request to an upstream and its response to the client. `choice`: other servers, which get the request if nothing
 * of it was sent.
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

/** Forwards the request to one of several servers. */
export function forwardChosen(exchange: Exchange, choice: ServerChoice): void {
  forward(exchange, choice.next(), choice);
}

/**
 * Sends a request to another server if nothing of it was sent to the previous one, so it is executed once, whatever its method.
 * Returns false if there is no other server, or if something may have been sent.
 */
function moveUnsent(exchange: Exchange, failure: UpstreamFailure, choice: ServerChoice): boolean {
  if (!isMovable(failure) || exchange.isOver || !choice.hasUntried) return false;
  keepUnsent(exchange, failure);
  forward(exchange, choice.next(), choice);
  return true;
}

/** Whether another server may get the request after this failure. */
export function isMovable({ unsent, isForbidden, isDenied }: UpstreamFailure): boolean {
  return unsent !== undefined && isForbidden !== true && isDenied !== true;
}

/** Restores the request's body if it was read for a connection that could not be opened. */
export function keepUnsent(exchange: Exchange, { unsent }: UpstreamFailure): void {
  const body = unsent?.body;
  if (!isBodySource(exchange.body)) return;
  if (typeof body === "string") exchange.setRequestBody(Buffer.from(body));
  else if (body instanceof Uint8Array) exchange.setRequestBody(body);
}

/**
 * Forwards the header lines as received, without parsing, which works for most requests. Returns `undefined` if it does not
 * work for this one.
 */
function sendLines(
  exchange: Exchange,
  upstream: Upstream,
  span: CallSpan | undefined,
  relay: Relay,
): UpstreamRequest | undefined {
  const { requestLines, upstreamMethod: method, body } = exchange;
  if (upstream.sendLines === undefined) return undefined;
  // Trailers after a chunked body are checked against the list.
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

/** Returns the request as it is sent to an upstream. */
export function upstreamCall(exchange: Exchange, upstream: Upstream): UpstreamCall {
  const { upstreamMethod: method, body } = exchange;
  const path = pathFor(exchange, upstream);
  const headers = endToEnd(exchange.requestHeaders, "host");
  headers.push("host", hostFor(exchange, upstream));
  // TE belongs to one connection, so the next one needs its own.
  if (exchange.acceptsTrailers && upstream.takesTrailers) headers.push("te", "trailers");
  const mayTrail = isBodySource(body) && body.length === undefined;
  const announced = mayTrail ? exchange.requestTrailers?.announced : undefined;
  if (announced !== undefined) headers.push("trailer", announced);
  return { method, path, headers, body, exchange, trailers: exchange.requestTrailers };
}

function pathFor(exchange: Exchange, { basePath }: Upstream): string {
  const target = forwardedTarget(exchange);
  // `*` is not a path (RFC 9110 9.3.7).
  return target === "*" ? target : basePath + target;
}

/** Chooses the Host: a policy's, otherwise the upstream's own name or the one that the client used. */
function hostFor({ upstreamHost, host }: Exchange, { keepsHost, authority }: Upstream): string {
  if (upstreamHost === undefined) return keepsHost && host !== "" ? host : authority;
  return upstreamHost ?? authority;
}

/** Forwards one response of an upstream to the client. */
export class Relay implements UpstreamHandler {
  readonly #exchange: Exchange;
  readonly #span: CallSpan | undefined;
  readonly #move: ((failure: UpstreamFailure) => boolean) | undefined;
  #request: UpstreamRequest | undefined;
  #unwanted = 0;

  /**
   * `span`: span of the request, which ends with it; absent without one, or if the caller ends it. `move`: sends the request
   * elsewhere after a failure and returns whether it did; absent if there is no other server.
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

  /** Takes the request whose response is forwarded; it is aborted when the client disconnects. */
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

  get borrower(): Borrower | undefined {
    return this.#exchange.borrower;
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
    // The client has another response already, or has disconnected.
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
    // The length in a response to HEAD is not that of the response to the client's own method.
    const isBodiless = upstreamMethod === "HEAD" && original.method !== "HEAD";
    const length = isBodiless ? 0 : contentLength(headers);
    if (this.#exchange.acceptsTrailers && this.#noteStatus(headers)) {
      // gRPC's status in the head: a trailers-only response, whose head must end it.
      this.#exchange.respond(status, endToEnd(headers, ""));
      return;
    }
    this.#exchange.writeHead(status, endToEnd(headers, ""), length);
  }

  /** Records gRPC's status for the log. Returns whether there is one. */
  #noteStatus(fields: readonly string[]): boolean {
    const status = headerValue(fields, "grpc-status");
    if (status === undefined) return false;
    const { record } = this.#exchange;
    logFields(record).set("grpc.status", status);
    return true;
  }

  /** Drops the body, because the client has another response already. */
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

/** Maximum bytes of an unwanted response that are read so that its connection can be reused. */
const MAX_UNWANTED = 65_536;

function refusalOf({ kind, isForbidden, isDenied }: UpstreamFailure) {
  if (isDenied === true) return denied;
  return isForbidden === true ? forbidden : refusals[kind];
}

/** Responses to the client if the upstream gave none. */
const refusals = {
  connect: { status: 503, reason: "UpstreamFailure", message: "upstream is not reachable" },
  timeout: { status: 504, reason: "Timeout", message: "upstream did not answer in time" },
  closed: { status: 502, reason: "UpstreamFailure", message: "upstream closed the connection" },
  protocol: { status: 502, reason: "UpstreamFailure", message: "upstream gave no valid response" },
} as const;

/** Response to a client that may not reach the destination. */
export const forbidden = {
  status: 403,
  reason: "ForbiddenDestination",
  message: "this destination is not allowed",
} as const;

/** Response to a client whose request the backend's rules forbid. */
const denied = { status: 403, reason: "Authorization", message: "authorization failed" } as const;

/** Response to a client whose token cannot be exchanged for the backend's (RFC 6750 3). */
const unauthorized = {
  status: 401,
  reason: "JwtAuth",
  message: "authentication failure: the token is not valid for this backend",
  headers: ["www-authenticate", "Bearer"],
} as const;

/** Returns the announced length of the body; it was validated when it was read. */
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
 * Requests the client's protocol (WebSocket, ...) from the upstream. Bytes flow only once the upstream has agreed, so a client
 * cannot open a tunnel alone. Any other response is forwarded as it is.
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

/** Forwards the bytes of another protocol in both directions. */
export class TunnelRelay extends Relay implements UpgradeHandler {
  readonly #exchange: Exchange;
  readonly #protocol: string;
  #leave: (() => void) | undefined;

  /** `move`: as in `Relay`. */
  constructor(exchange: Exchange, protocol: string, move?: (failure: UpstreamFailure) => boolean) {
    super(exchange, undefined, move);
    this.#exchange = exchange;
    this.#protocol = protocol;
  }

  onSwitch(headers: readonly string[], upstream: UpstreamTunnel): void {
    const exchange = this.#exchange;
    const agreed = headerValue(headers, "upgrade");
    if (agreed?.toLowerCase() !== this.#protocol.toLowerCase()) {
      this.onError({ kind: "protocol", detail: "switched to a protocol that was not requested" });
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
      // The exchange notifies the relay.
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
