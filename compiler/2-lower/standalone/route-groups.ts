import type { RouteValue } from "../../1-parse/standalone/route.ts";
import type { RouteGroupValue } from "../../1-parse/standalone/standalone.ts";
import type { MatchConfig } from "../../config/resources.ts";
import {
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
  placeKey,
} from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import type { MatchRank, ValueMatchConfig } from "../../model/matches.ts";
import {
  type PolicyConfig,
  type PolicyKind,
  policies,
  policyOf,
  policyOfKind,
} from "../../policies/index.ts";
import type { RoutePlacement } from "./attached.ts";
import type { FileContext } from "./route-parts.ts";

/** A group of routes of the file. */
export interface RouteGroup {
  readonly name: string;
  readonly routes: readonly (RouteValue | undefined)[];
  readonly origin: Origin;
}

/**
 * The context of a group's routes: from the route that delegates to it, and from those that delegate to that
 * route.
 */
export interface Delegation extends RoutePlacement {
  readonly matches: readonly MatchConfig[];
  /** Names of the groups that lead here. */
  readonly groups: readonly string[];
  /** Whether parts have mistakes (reported), so that something may be missing. */
  readonly isPartial: boolean;
}

/** Reads the file's `routeGroups` by name; reports duplicate names. */
export function readRouteGroups(
  values: readonly (RouteGroupValue | undefined)[],
  origin: Origin,
  diagnostics: Diagnostics,
): ReadonlyMap<string, RouteGroup> {
  const found = new Map<string, RouteGroup>();
  values.forEach((each, index) => {
    if (each === undefined) return;
    const at = childOf(origin, index);
    const first = found.get(each.name);
    if (first === undefined) found.set(each.name, { ...each, origin: at });
    else {
      const related = [{ at: first.origin, label: "the first one" }];
      diagnostics.report("duplicate-group", childOf(at, "name"), { name: each.name }, related);
    }
  });
  return found;
}

/**
 * Returns the group that a route delegates to; `undefined` if it does not exist or already leads to this route
 * (both reported). `at` is the location of the name.
 */
export function findGroup(
  name: string,
  at: Origin,
  groups: ReadonlyMap<string, RouteGroup>,
  way: readonly string[],
  context: Pick<FileContext, "diagnostics">,
): RouteGroup | undefined {
  const found = groups.get(name);
  if (found === undefined) {
    const near = suggest(name, [...groups.keys()]);
    context.diagnostics.report("missing-reference", at, {
      what: `route group "${name}"`,
      candidates: [...groups.keys()].map((each) => `"${each}"`),
      place: "define groups under `routeGroups` of the file, each with a `name`",
      ...(near === undefined ? {} : { near }),
    });
    return undefined;
  }
  if (!way.includes(name)) return found;
  context.diagnostics.report("group-circle", at, { way: [...way, name] });
  return undefined;
}

/** The used groups and routes, complete once every route has been read. */
export interface GroupUse {
  /** Names of the groups that routes delegate to. */
  readonly groups: Set<string>;
  /** Locations of their routes that serve requests or have mistakes (reported). */
  readonly routes: Set<string>;
}

/**
 * Reports groups that no route delegates to, and routes of other groups that none of the delegated requests reach.
 */
export function reportIdleGroups(
  groups: ReadonlyMap<string, RouteGroup>,
  use: GroupUse,
  diagnostics: Diagnostics,
): void {
  for (const { name, routes, origin } of groups.values()) {
    if (!use.groups.has(name)) {
      diagnostics.report("unused-group", childOf(origin, "name"), { name });
      continue;
    }
    routes.forEach((route, index) => {
      const at = childOf(origin, "routes", index);
      if (route === undefined || use.routes.has(placeKey(at))) return;
      diagnostics.report("undelegated-route", at, { group: name });
    });
  }
}

/** Merges the policies of a route over those of the delegating route, in request order. */
export function mergePolicies(
  general: readonly PolicyConfig[],
  specific: readonly PolicyConfig[],
): PolicyConfig[] {
  return policies.flatMap(({ kind }) => mergeKind(kind, general, specific) ?? []);
}

function mergeKind<Kind extends PolicyKind>(
  kind: Kind,
  general: readonly PolicyConfig[],
  specific: readonly PolicyConfig[],
): PolicyConfig<Kind> | undefined {
  const first = policyOfKind(general, kind);
  const second = policyOfKind(specific, kind);
  const { lowering, kubernetes } = policyOf(kind);
  if (first === undefined || second === undefined || lowering.merge !== "join")
    return second ?? first;
  const config = kubernetes?.join?.([first.config, second.config]) ?? second.config;
  return { ...second, config };
}

/**
 * Returns the requests that match both a route and the route that delegates to it; empty if there can be no such
 * request.
 */
export function delegatedMatches(
  general: readonly MatchConfig[],
  specific: readonly MatchConfig[],
): readonly MatchConfig[] {
  return general.flatMap((outer) => specific.flatMap((inner) => bothOf(outer, inner) ?? []));
}

function bothOf(outer: MatchConfig, inner: MatchConfig): MatchConfig | undefined {
  const path = bothPaths(outer.path, inner.path);
  const isOtherMethod =
    outer.method !== undefined && (inner.method ?? outer.method) !== outer.method;
  const headers = bothValues(outer.headers, inner.headers);
  const query = bothValues(outer.query, inner.query);
  if (path === undefined || isOtherMethod || headers === undefined || query === undefined) {
    return undefined;
  }
  return {
    path,
    method: inner.method ?? outer.method,
    headers,
    query,
    ranks: [...ranksOf(outer), inner],
    origin: inner.origin,
  };
}

/** Combines the conditions; returns `undefined` if two of them on one name contradict each other. */
function bothValues(
  outer: readonly ValueMatchConfig[],
  inner: readonly ValueMatchConfig[],
): readonly ValueMatchConfig[] | undefined {
  const further = inner.filter(({ name }) => !outer.some((each) => each.name === name));
  const isSame = inner.every(({ name, kind, value }) =>
    outer.every((each) => each.name !== name || (each.kind === kind && each.value === value)),
  );
  return isSame ? [...outer, ...further] : undefined;
}

/** Returns the ranks of a match, from the outermost delegating route to the route's own. */
function ranksOf(match: MatchConfig): readonly MatchRank[] {
  return match.ranks ?? [match];
}

type Path = MatchConfig["path"];

/** Returns the narrower of two paths, if it lies within the other one. */
function bothPaths(a: Path, b: Path): Path | undefined {
  if (isWithin(b, a)) return b;
  return isWithin(a, b) ? a : undefined;
}

function isWithin(inner: Path, outer: Path): boolean {
  const prefix = outer.value.replace(/\/+$/, "");
  if (outer.kind === "exact") return inner.kind === "exact" && inner.value === outer.value;
  return inner.value === prefix || inner.value.startsWith(`${prefix}/`);
}

/** Returns the matches of a delegating route that no route of the group covers completely. */
export function openMatches(
  general: readonly MatchConfig[],
  delegated: readonly MatchConfig[],
): readonly MatchConfig[] {
  return general.filter((outer) => !delegated.some((each) => isAllOf(each, outer)));
}

function isAllOf(match: MatchConfig, outer: MatchConfig): boolean {
  return (
    ranksOf(match).includes(ranksOf(outer).at(-1) ?? outer) &&
    match.path.kind === outer.path.kind &&
    isWithin(outer.path, match.path) &&
    match.method === outer.method &&
    match.headers.length === outer.headers.length &&
    match.query.length === outer.query.length
  );
}

/** Reports parts that a delegating or delegated route cannot have, and returns whether it has any. */
export function reportUndelegable(
  { matches = [], backends = [], hostnames }: RouteValue,
  isOfGroup: boolean,
  origin: Origin,
  diagnostics: Diagnostics,
): boolean {
  const list = diagnostics.list.length;
  matches.forEach((match, index) => {
    if (match?.path?.regex === undefined) return;
    const at = keyPlace(childOf(origin, "matches", index, "path", "regex"));
    diagnostics.report("not-built-yet", at, {
      what: "patterns in routes that delegate to groups",
      field: '"regex"',
    });
  });
  if (isOfGroup && hostnames !== undefined) {
    const params = {
      field: '"hostnames"',
      actsOn: "routes of listeners",
      found: "routes of groups",
    };
    diagnostics.report("misplaced-field", keyPlace(childOf(origin, "hostnames")), params);
  }
  const isAlone = backends.every(
    (each) => each?.routeGroup === undefined || (backends.length === 1 && !hasMore(each)),
  );
  if (!isAlone) diagnostics.report("group-beside-others", childOf(origin, "backends"), {});
  return diagnostics.list.length > list;
}

function hasMore({
  weight,
  policies: own,
}: NonNullable<NonNullable<RouteValue["backends"]>[number]>) {
  return weight !== undefined || own !== undefined;
}
