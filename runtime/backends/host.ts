import { isBodySource } from "../http/body/body.ts";
import type { Exchange } from "../http/exchange.ts";
import type { CallSpan } from "../http/exchange-trace.ts";
import { endToEnd } from "../http/headers/hop-by-hop.ts";
import { forwardedTarget } from "../http/routing/verbatim-path.ts";
import { describeCall, tracedLines } from "../http/upstream/traced-request.ts";
import type {
  Upstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamRequest,
} from "../http/upstream/upstream.ts";
import { Relay } from "./relay.ts";
import { tunnel } from "./tunnel.ts";

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
