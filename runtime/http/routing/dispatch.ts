import type { Exchange, Handled } from "../exchange.ts";
import { refuse } from "../refuse.ts";

/** Records the listener and route of a request and calls the route's handler. */
export function dispatch(
  exchange: Exchange,
  listener: string,
  route: string,
  handler: (exchange: Exchange) => Handled,
): Handled {
  exchange.record.listener = listener;
  exchange.record.route = route;
  return handler(exchange);
}

/** Forwards the path as received, unless a policy changes it; rules and routes use its canonical form. */
export function keepPath(exchange: Exchange): void {
  exchange.keepsPath = true;
}

/**
 * Refuses a request whose path has no canonical form (an encoded slash), for a listener on the port of one that forwards paths
 * as received. Returns whether it was refused.
 */
export function refuseAmbiguousPath(exchange: Exchange): boolean {
  if (!exchange.hasAmbiguousPath) return false;
  refuse(exchange, 400, "BadRequest", "ambiguous path");
  return true;
}

/** Returns the target for the upstream. */
export function forwardedTarget({
  keepsPath,
  upstreamTarget,
  original,
  sentTarget,
}: Exchange): string {
  return keepsPath && upstreamTarget === original.target ? sentTarget : upstreamTarget;
}
