import type { TcpRouteValue } from "../../1-parse/standalone/tcp-route.ts";
import type { ListenerResource, TcpRouteResource } from "../../config/resources.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import { type FileContext, isPartial, readBackends, readPolicies } from "./route-parts.ts";

/** A route of connections, which stands on one listener. */
export function readTcpRoute(
  route: TcpRouteValue,
  listener: string,
  origin: Origin,
  context: FileContext,
): TcpRouteResource {
  const { name, hostnames = [], policies = {} } = route;
  const backends = readBackends(route, origin, context);
  return {
    kind: "tcpRoute",
    name,
    listeners: [{ listener, hostnames }],
    isPartial: isPartial(origin, context) || backends.includes(undefined),
    policies: readPolicies(policies, childOf(origin, "policies"), context.diagnostics),
    backends: backends.flatMap((backend) => backend ?? []),
    origin,
  };
}

/** Reports routes of requests on a listener of connections, and the reverse. */
export function checkRouteField(
  listener: {
    readonly protocol?: ListenerResource["protocol"];
    readonly routes?: readonly unknown[];
    readonly tcpRoutes?: readonly unknown[];
  },
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const { protocol = "HTTP" } = listener;
  const isTcp = protocol === "TCP" || protocol === "TLS";
  const [field, instead] = isTcp
    ? (["routes", "tcpRoutes"] as const)
    : (["tcpRoutes", "routes"] as const);
  if (listener[field] === undefined) return;
  diagnostics.report("wrong-routes", keyPlace(childOf(origin, field)), {
    field,
    protocol,
    instead,
  });
}
