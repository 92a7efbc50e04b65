import type { ConfigValue } from "../../1-parse/values.ts";
import type { ListenerResource, TcpRouteResource } from "../../config/resources.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import { readBackendPolicies } from "./backend-policies.ts";
import { readBackend, readPolicies } from "./route-parts.ts";

/** A route of `tcpRoutes` as the schema has let it through. */
export interface TcpRouteConfig {
  readonly name?: string;
  readonly hostnames?: readonly string[];
  readonly policies?: Readonly<Record<string, ConfigValue>>;
  readonly backends?: readonly Readonly<Record<string, ConfigValue>>[];
}

/** A route of connections, which stands on one listener. */
export function readTcpRoute(
  { name, hostnames = [], policies = {}, backends = [] }: TcpRouteConfig,
  listener: string,
  origin: Origin,
  diagnostics: Diagnostics,
): TcpRouteResource {
  const ofRoute = readBackendPolicies(policies, childOf(origin, "policies"));
  return {
    kind: "tcpRoute",
    name,
    listeners: [{ listener, hostnames }],
    policies: readPolicies(policies, childOf(origin, "policies"), diagnostics),
    backends: backends.flatMap(
      (backend, index) =>
        readBackend(backend, ofRoute, childOf(origin, "backends", index), {
          named: new Map(),
          diagnostics,
        }) ?? [],
    ),
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
