import type { Exchange } from "../http/exchange.ts";

/**
 * Whether a request may call a model. GET and HEAD do not, unless they open a WebSocket: they read models, stored responses or
 * one's own usage, which callers need most when their budget is spent.
 */
export function mayCallModel({ method, upgrade }: Exchange): boolean {
  return upgrade !== undefined || (method !== "GET" && method !== "HEAD");
}
