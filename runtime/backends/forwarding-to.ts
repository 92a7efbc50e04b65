import type { Handler } from "../http/exchange.ts";
import { openUpstream } from "../http/upstream/open-upstream.ts";
import type { UpstreamSettings } from "../http/upstream/upstream.ts";
import { forward } from "./host.ts";

/** Returns the handler of a route that does nothing but forward its requests to one upstream. */
export function forwardingTo(settings: UpstreamSettings): Handler {
  const upstream = openUpstream(settings);
  return (exchange) => forward(exchange, upstream);
}
