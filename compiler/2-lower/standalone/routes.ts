import type { MatchValue, RouteValue } from "../../1-parse/standalone/route.ts";
import { connectionKeys, sectionsOf } from "../../backends/parts/connection-sections.ts";
import { readBackendPolicies } from "../../backends/parts/read-policies.ts";
import { readValueMatch } from "../../backends/parts/value-match.ts";
import { checkAllBackends } from "../../config/all-backends.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type { MatchConfig, RouteResource } from "../../config/resources.ts";
import { routeTraffic } from "../../config/sections.ts";
import { childOf, type Origin, placeKey } from "../../diagnostics/diagnostic.ts";
import { mergeBackendPolicies } from "../../model/backend-policies.ts";
import { NAMED_SERVER } from "../../model/traffic.ts";
import { respondsToAll, silentPolicies } from "../../policies/index.ts";
import { type Attached, fullName, type RoutePlacement } from "./attached.ts";
import { actingThere, over } from "./attached-policies.ts";
import {
  type Delegation,
  delegatedMatches,
  findGroup,
  type GroupUse,
  mergePolicies,
  openMatches,
  type RouteGroup,
  reportUndelegable,
} from "./route-groups.ts";
import { type FileContext, meetRoute, readBackends, readPolicies } from "./route-parts.ts";
import { withServerPolicies } from "./server-policies.ts";

/** Services of the whole file that HTTP routes can use. */
export interface RoutesContext extends FileContext {
  readonly groups: ReadonlyMap<string, RouteGroup>;
  readonly groupUse: GroupUse;
}

/**
 * Reads a route of a file. If it delegates to a group, returns the group's routes for its requests and one that
 * refuses the rest. `from` is `outer` for a delegated route.
 */
export function readRoute(
  route: RouteValue,
  origin: Origin,
  context: RoutesContext,
  outer: RoutePlacement,
  from?: Delegation,
): readonly RouteResource[] {
  const group = route.backends?.find((each) => each?.routeGroup !== undefined)?.routeGroup;
  const isDelegation = group !== undefined || from !== undefined;
  const { groupUse, diagnostics } = context;
  if (isDelegation && reportUndelegable(route, from !== undefined, origin, diagnostics)) {
    groupUse.routes.add(placeKey(origin));
    return [];
  }
  const read = readOwn(route, origin, context, outer, from);
  if (from !== undefined && read.matches.length === 0 && !read.isPartial) return [];
  groupUse.routes.add(placeKey(origin));
  const { listeners } = outer;
  if (group !== undefined) return delegate(group, { ...read, listeners }, origin, context, from);
  const inherited = read.attached.backendPolicies;
  const backends = readBackends(route, origin, routeTraffic, context, inherited);
  const known = backends.flatMap((backend) => backend ?? []);
  const lacksBackend = backends.some((each) => each === undefined || each.isPartial);
  const isRoutePartial = read.isPartial || lacksBackend;
  const responds = read.policies.some(respondsToAll);
  const traffic = routeTraffic(responds ? [] : known);
  // A route without a backend is reported; whether its policies have an effect is unknown.
  const isOpen = known.length === 0 && !responds;
  const isUnknown =
    from?.isPartial === true || lacksBackend || isOpen || mayCarryOther(origin, context);
  const carried = isUnknown ? undefined : traffic;
  meetRoute(route, read.policies, origin, carried, context);
  const { matches, attached } = read;
  const acting = actingThere(read.policies, attached, carried);
  const policies = withServerPolicies(acting, known, diagnostics);
  if (!isUnknown) {
    const placed = known.map((config, index) => ({
      config,
      at: childOf(origin, "backends", index),
    }));
    checkAllBackends(policies, placed, diagnostics);
  }
  for (const section of sectionsOf(inherited ?? {})) context.sections.meet(section, carried);
  return [
    {
      kind: "route",
      name: fullName(route),
      listeners,
      isPartial: isRoutePartial,
      matches,
      policies,
      backends: known,
      origin,
    },
  ];
}

/** Fields of a route that do not affect the traffic on it. */
const MATCHING = ["name", "ruleName", "hostnames", "matches", "policies"];

/** Whether a route may have other traffic than is known, because parts of it were omitted. */
function mayCarryOther(origin: Origin, context: FileContext): boolean {
  const silent = [...silentPolicies, ...connectionKeys([...NAMED_SERVER, "shares"])];
  return (
    isPartial(origin, context, MATCHING) || isPartial(childOf(origin, "policies"), context, silent)
  );
}

/** A route with the context from the route that delegates to it. */
interface ReadRoute extends Pick<Delegation, "matches" | "policies" | "isPartial"> {
  readonly value: RouteValue;
  /** Policies attached to it from elsewhere. */
  readonly attached: Attached;
}

function readOwn(
  route: RouteValue,
  origin: Origin,
  context: RoutesContext,
  outer: Attached,
  from: Delegation | undefined,
): ReadRoute {
  const named = over(outer, context.attached.onRoute(route.name, route.ruleName));
  const own = route.matches?.flatMap((match, index) =>
    match === undefined ? [] : [readMatch(match, childOf(origin, "matches", index))],
  ) ?? [readMatch({}, origin)];
  const policies = readPolicies(
    route.policies ?? {},
    childOf(origin, "policies"),
    context.diagnostics,
  );
  return {
    value: route,
    matches: from === undefined ? own : delegatedMatches(from.matches, own),
    policies: mergePolicies(named.policies, policies),
    attached: named,
    isPartial: from?.isPartial === true || context.attached.isPartial || isPartial(origin, context),
  };
}

/**
 * Returns the routes of a group for the requests of a route, and one that refuses requests that none of them
 * serves.
 */
function delegate(
  name: string,
  route: ReadRoute & Pick<RouteResource, "listeners">,
  origin: Origin,
  context: RoutesContext,
  from: Delegation | undefined,
): readonly RouteResource[] {
  const { value, matches, policies, attached, listeners } = route;
  const way = from?.groups ?? [];
  const at = childOf(origin, "backends", 0, "routeGroup");
  const group = findGroup(name, at, context.groups, way, context);
  context.groupUse.groups.add(name);
  if (group === undefined) return [];
  const own = readBackendPolicies(value.policies, childOf(origin, "policies"));
  const delegation: Delegation = {
    listeners,
    isPassedOn: false,
    matches,
    policies,
    backendPolicies: mergeBackendPolicies(attached.backendPolicies, own),
    groups: [...way, name],
    isPartial: route.isPartial,
  };
  const routes = group.routes.flatMap((each, index) => {
    const place = childOf(group.origin, "routes", index);
    if (each === undefined) return [];
    return readRoute(each, place, context, delegation, delegation);
  });
  const open = openMatches(
    matches,
    routes.flatMap((each) => each.matches),
  );
  if (open.length === 0) return routes;
  return [
    ...routes,
    {
      kind: "route",
      name: fullName(value),
      listeners,
      isPartial: route.isPartial,
      matches: open,
      policies: [],
      backends: [],
      refusal: "notFound",
      origin,
    },
  ];
}

function readMatch(match: MatchValue, origin: Origin): MatchConfig {
  const { exact, pathPrefix, regex } = match.path ?? {};
  return {
    path:
      exact !== undefined
        ? { kind: "exact", value: exact }
        : regex !== undefined
          ? { kind: "regex", value: regex }
          : { kind: "prefix", value: pathPrefix || "/" },
    method: match.method,
    headers: (match.headers ?? []).map((each, index) =>
      readValueMatch({ ...each, name: each.name.toLowerCase() }, childOf(origin, "headers", index)),
    ),
    query: (match.query ?? []).map((each, index) =>
      readValueMatch(each, childOf(origin, "query", index)),
    ),
    origin,
  };
}
