import { isBodySource } from "../http/body/body.ts";
import type { Exchange } from "../http/exchange.ts";
import type { CallSpan } from "../http/exchange-trace.ts";
import { endToEnd } from "../http/headers/hop-by-hop.ts";
import { forwardedTarget } from "../http/routing/verbatim-path.ts";
import { describeCall, tracedLines } from "../http/upstream/traced-request.ts";
import type { Upstream, UpstreamCall, UpstreamRequest } from "../http/upstream/upstream.ts";
import { Relay } from "./relay.ts";
import { tunnel } from "./tunnel.ts";

/** Sends the request to an upstream and its response to the client. */
export function forward(exchange: Exchange, upstream: Upstream): void {
  exchange.record.upstream = upstream.name;
  if (exchange.upgrade !== undefined) {
    tunnel(exchange, upstream, upstreamCall(exchange, upstream), exchange.upgrade);
    return;
  }
  const span = exchange.trace?.beginCall(exchange.upstreamMethod);
  const relay = new Relay(exchange, span);
  relay.start(
    sendLines(exchange, upstream, span, relay) ?? sendList(exchange, upstream, span, relay),
  );
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
