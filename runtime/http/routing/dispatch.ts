import type { Exchange, Handled } from "../exchange.ts";

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
