import type { Exchange } from "../http/exchange.ts";

/** The upstream sees this path and query, whatever the client asked for: a runtime of AgentCore has one address. */
export function invoke(exchange: Exchange, target: string): void {
  exchange.upstreamTarget = target;
}
