import type { TcpRouteValue } from "../../1-parse/standalone/tcp-route.ts";
import type { BackendConfig } from "../../backends/index.ts";
import { sectionsOf } from "../../backends/parts/connection-sections.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type { ListenerResource, TcpRouteResource } from "../../config/resources.ts";
import { streamTraffic } from "../../config/sections.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import { fullName, type RoutePlacement } from "./attached.ts";
import { actingThere, over } from "./attached-policies.ts";
import { mergePolicies } from "./route-groups.ts";
import { type FileContext, meetRoute, readBackends, readPolicies } from "./route-parts.ts";

/** Reads a TCP route. */
export function readTcpRoute(
  route: TcpRouteValue,
  origin: Origin,
  context: FileContext,
  { listeners, isPassedOn, ...general }: RoutePlacement,
): TcpRouteResource {
  const { name, ruleName, policies = {} } = route;
  const trafficOf = (backends: readonly BackendConfig[]) => streamTraffic(backends, isPassedOn);
  const { attached } = context;
  const outer = over(general, attached.onRoute(name, ruleName));
  const backends = readBackends(route, origin, trafficOf, context, outer.backendPolicies);
  const known = backends.flatMap((backend) => backend ?? []);
  const isRoutePartial =
    attached.isPartial || isPartial(origin, context) || backends.includes(undefined);
  const own = readPolicies(policies, childOf(origin, "policies"), context.diagnostics);
  const carried = trafficOf(known);
  const read = actingThere(mergePolicies(outer.policies, own), outer, carried);
  for (const section of sectionsOf(outer.backendPolicies ?? {}))
    context.sections.meet(section, isRoutePartial ? undefined : carried);
  meetRoute(route, read, origin, isRoutePartial ? undefined : carried, context);
  return {
    kind: "tcpRoute",
    name: fullName(route),
    listeners,
    isPartial: isRoutePartial,
    policies: read,
    backends: known,
    origin,
  };
}

/** Reports HTTP routes on a TCP listener, and the reverse. */
export function checkRouteField(
  listener: {
    readonly protocol: ListenerResource["protocol"];
    readonly routes: readonly unknown[] | undefined;
    readonly tcpRoutes: readonly unknown[] | undefined;
  },
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  const { protocol } = listener;
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
