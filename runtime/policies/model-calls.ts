import type { Exchange } from "../http/exchange.ts";

/**
 * Whether a request may call a model. GET and HEAD do not, unless they open a WebSocket: they read models, stored responses or
 * one's own usage, which callers need most when their budget is spent.
 */
export function mayCallModel({ method, upgrade }: Exchange): boolean {
  return upgrade !== undefined || (method !== "GET" && method !== "HEAD");
}

/** Returns the limits that a request is subject to: those of requests alone if it cannot call a model. */
export function applyingLimits<Limit extends { readonly counts: string }>(
  exchange: Exchange,
  limits: readonly Limit[],
): readonly Limit[] {
  return mayCallModel(exchange) ? limits : limits.filter(({ counts }) => counts === "requests");
}
