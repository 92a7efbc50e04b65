import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";

/** Answers a request that the route's rules do not allow. */
export function denyForbidden(exchange: Exchange): void {
  refuse(exchange, 403, "Authorization", "authorization failed");
}
