import type { CachedByObjects } from "../../cached-results.ts";
import type {
  GatewayResources,
  ListenerResource,
  Resource,
  RouteResource,
  TcpRouteResource,
} from "../../config/resources.ts";
import type { Diagnostic, Diagnostics } from "../../diagnostics/diagnostic.ts";
import { guarded } from "../../diagnostics/guarded.ts";
import { unresolved } from "./backends/backends.ts";
import { Faults } from "./faults.ts";
import type { KubernetesModel } from "./gateway/gateways.ts";
import { isIdleTls } from "./mistake-places.ts";

/** Settings of isolation. */
interface IsolateSettings {
  /** Collects errors of gwc at routes. */
  readonly bugs: Diagnostics;
  readonly variants: IsolatedRoutes;
}

/** Routes without some of their parts, by the whole route, so that the same parts make the same object. */
export type IsolatedRoutes = CachedByObjects<object, RouteResource | TcpRouteResource>;

/**
 * Returns the resources of a Gateway with the parts that have mistakes made harmless, so that the rest can be
 * served. A rule with mistakes, or with a policy or backend that has some, is answered 500 in place (its requests
 * reach no other rule). Of several backends, missing ones have their share refused. A listener with mistakes is
 * omitted. Returns `undefined` if the Gateway's own resource has mistakes.
 */
export function isolated(
  { name, resources }: GatewayResources,
  kubernetes: KubernetesModel,
  errors: readonly Diagnostic[],
  { bugs, variants }: IsolateSettings,
): GatewayResources | undefined {
  const faults = new Faults(
    kubernetes,
    errors.filter((each) => !isIdleTls(each)),
  );
  const gateway = resources.find((resource) => resource.kind === "gateway");
  const title = gateway?.origin.resource?.name ?? "";
  if (gateway === undefined || faults.isBrokenGateway(title)) return undefined;
  const listeners = gateway.listeners.filter(
    (each) => !faults.isIn(each) && !lacksAuthorities(each),
  );
  const keys = new Set(listeners.map(({ key }) => key));
  const closed = listeners.filter((each) => faults.hasBrokenPolicies(each));
  const closedKeys = new Set(closed.map(({ key }) => key));
  const routes = resources.flatMap((whole): readonly Resource[] => {
    if (whole.kind === "gateway") return [];
    const own = whole.listeners.filter(({ listener }) => keys.has(listener));
    if (own.length === 0) return [];
    const isClosed = own.some(({ listener }) => closedKeys.has(listener));
    const isolate = () => isolatedRoute(whole, { own, isClosed, faults, variants });
    // A route that cannot even be isolated is closed.
    return [guarded(whole.origin, bugs, isolate) ?? shutRoute({ ...whole, listeners: own })];
  });
  // Policies before routing with mistakes are removed, so the routes behind them are closed instead.
  const served = listeners.map((each) =>
    closed.includes(each) ? { ...each, policies: [] } : each,
  );
  return { name, resources: [{ ...gateway, listeners: served }, ...routes] };
}

/** Returns a route with its broken parts closed, on the listeners that are left. */
function isolatedRoute(
  whole: RouteResource | TcpRouteResource,
  { own, isClosed, faults, variants }: IsolationContext,
): RouteResource | TcpRouteResource {
  const route = faults.withoutBrokenModels(whole);
  const isPartial = faults.lacksMatches(route);
  const remaining = { ...route, listeners: own, isPartial };
  const lost = route.backends.filter((each) => faults.isLost(each));
  const reached = route.backends.filter((each) => !lost.includes(each));
  const isAllLost = lost.length > 0 && lost.length === route.backends.length;
  if (isAllLost || isClosed || faults.isBrokenRoute(route, reached)) {
    const matches = route.kind === "route" ? faults.readableMatches(route) : [];
    return shutRoute(remaining.kind === "route" ? { ...remaining, matches } : remaining);
  }
  const isAttached = own.length === route.listeners.length;
  // An unchanged route stays the same object, whose resolution is cached.
  if (isAttached && lost.length === 0 && isPartial === (route.isPartial === true)) return route;
  const indices = lost.map((each) => route.backends.indexOf(each));
  const name = JSON.stringify([own.map(({ listener }) => listener), isPartial, indices]);
  return variants.of([route], name, () => ({
    ...remaining,
    backends: route.backends.map((each) => (lost.includes(each) ? refused(each) : each)),
  }));
}

/** Facts for isolating a route. */
interface IsolationContext {
  /** Its listeners that are served. */
  readonly own: RouteResource["listeners"];
  /** Whether one of them has broken policies, so that the route is closed. */
  readonly isClosed: boolean;
  readonly faults: Faults;
  readonly variants: IsolatedRoutes;
}

/**
 * Whether all CA certificates for a listener's client certificates are unreadable. Without any, it would trust
 * nobody or everybody.
 */
function lacksAuthorities({ tls }: ListenerResource): boolean {
  return tls?.clients?.authorities.length === 0;
}

/** Returns a rule without its policies and backends, which answers every request with 500. */
export function shutRoute<Route extends RouteResource | TcpRouteResource>(route: Route): Route {
  return { ...route, policies: [], backends: [none(route)] };
}

/** Returns a placeholder for the backends of a rule with mistakes, which gets no requests. */
function none({
  origin,
}: Pick<RouteResource | TcpRouteResource, "origin">): RouteResource["backends"][number] {
  return { ...unresolved(origin), weight: 0 };
}

/** Returns a placeholder for one of several backends that has mistakes; its share of the requests gets 500. */
function refused({ origin, weight }: RouteResource["backends"][number]) {
  return { ...unresolved(origin), ...(weight !== undefined && { weight }) };
}
