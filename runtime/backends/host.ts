import { isBodySource } from "../http/body/body.ts";
import type { Exchange } from "../http/exchange.ts";
import { endToEnd } from "../http/headers/hop-by-hop.ts";
import { forwardedTarget } from "../http/routing/verbatim-path.ts";
import { sendTraced } from "../http/upstream/traced-request.ts";
import type { Upstream, UpstreamCall } from "../http/upstream/upstream.ts";
import { Relay } from "./relay.ts";
import { tunnel } from "./tunnel.ts";

/** Sends the request to an upstream and its response to the client. */
export function forward(exchange: Exchange, upstream: Upstream): void {
  exchange.record.upstream = upstream.name;
  if (exchange.upgrade !== undefined) {
    tunnel(exchange, upstream, upstreamCall(exchange, upstream), exchange.upgrade);
    return;
  }
  const relay = new Relay(exchange);
  relay.start(sendTraced(exchange.trace, upstream, upstreamCall(exchange, upstream), relay));
}

/** The request as it goes to an upstream. */
export function upstreamCall(exchange: Exchange, upstream: Upstream): UpstreamCall {
  const { upstreamMethod: method, body } = exchange;
  const target = forwardedTarget(exchange);
  // `*` is no path (RFC 9110 9.3.7).
  const path = target === "*" ? target : `${upstream.basePath}${target}`;
  const headers = endToEnd(exchange.requestHeaders, "host");
  headers.push("host", hostFor(exchange, upstream));
  // It belongs to one connection, and the next one has to be told as well.
  if (exchange.acceptsTrailers && upstream.takesTrailers) headers.push("te", "trailers");
  const mayTrail = isBodySource(body) && body.length === undefined;
  const announced = mayTrail ? exchange.requestTrailers?.announced : undefined;
  if (announced !== undefined) headers.push("trailer", announced);
  return { method, path, headers, body, exchange, trailers: exchange.requestTrailers };
}

/** What a policy decided; else the upstream's own name, or the one that the client used. */
function hostFor({ upstreamHost, host }: Exchange, { keepsHost, authority }: Upstream): string {
  if (upstreamHost === undefined) return keepsHost && host !== "" ? host : authority;
  return upstreamHost ?? authority;
}
