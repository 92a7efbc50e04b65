import type { Exchange } from "../http/exchange.ts";

/** The upstream sees the Host that the client sent. */
export function keepHost(exchange: Exchange): void {
  exchange.upstreamHost = exchange.host;
}

/** The upstream sees its own name. */
export function useUpstreamHost(exchange: Exchange): void {
  exchange.upstreamHost = null;
}
