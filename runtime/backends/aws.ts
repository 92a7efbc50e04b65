import type { Exchange } from "../http/exchange.ts";

/** Sets the path and query of the upstream request, whatever the client sent: a runtime of AgentCore has one address. */
export function invoke(exchange: Exchange, target: string): void {
  exchange.upstreamTarget = target;
}
