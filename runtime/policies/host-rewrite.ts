import type { Exchange } from "../http/exchange.ts";

/** Forwards the Host header that the client sent. */
export function keepHost(exchange: Exchange): void {
  exchange.upstreamHost = exchange.host;
}

/** Sets the Host header to the upstream's own name. */
export function useUpstreamHost(exchange: Exchange): void {
  exchange.upstreamHost = null;
}
