import type { Exchange, Handled } from "../exchange.ts";
import { refuse } from "../refuse.ts";

/** Notes which listener and route a request belongs to, and hands it to the route. */
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

/** The listener's requests go on with the path that was sent, unless a policy changes it; rules and routes see its one form. */
export function keepPath(exchange: Exchange): void {
  exchange.keepsPath = true;
}

/**
 * For a listener beside one that keeps paths: refuses what has no form that two servers read alike (an encoded slash). True:
 * the request was refused.
 */
export function refuseAmbiguousPath(exchange: Exchange): boolean {
  if (!exchange.hasAmbiguousPath) return false;
  refuse(exchange, 400, "BadRequest", "ambiguous path");
  return true;
}

/** The target that goes upstream. */
export function forwardedTarget({
  keepsPath,
  upstreamTarget,
  original,
  sentTarget,
}: Exchange): string {
  return keepsPath && upstreamTarget === original.target ? sentTarget : upstreamTarget;
}
