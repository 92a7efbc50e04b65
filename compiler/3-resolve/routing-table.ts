import { canBeginWith } from "../cel/regex/can-begin-with.ts";
import { compareHostnames, intersectHostnames } from "../config/hostnames.ts";
import { type Diagnostics, placeKey } from "../diagnostics/diagnostic.ts";
import type { HostEntries, ListenerNode, RouteEntry, RouteNode } from "../ir/program.ts";
import type { MatchRank, PathMatch, RouteMatch, ValueMatch } from "../model/matches.ts";

/** A route with its matches, and its hostnames on a listener. */
export interface TableRoute {
  readonly route: RouteNode;
  readonly hostnames: readonly string[];
  readonly matches: readonly RouteMatch[];
}

/**
 * Returns the routing table of a listener with this hostname: entries by hostname, in Gateway API precedence
 * (hostname, exact path, longest prefix, regex, method, number of headers, number of query parameters, order).
 */
export function routingTable(
  routes: readonly TableRoute[],
  listener: string,
  diagnostics: Diagnostics,
): readonly HostEntries[] {
  const groups = new Map<string, RouteEntry[]>();
  for (const { route, hostnames, matches } of routes) {
    for (const hostname of hostnames) {
      const entries = groups.get(hostname) ?? [];
      entries.push(...matches.map((match) => ({ match, route: route.id })));
      groups.set(hostname, entries);
    }
  }
  const table = [...groups.keys()].sort(compareHostnames).map((hostname) => ({
    hostname,
    shared: intersectHostnames(hostname, listener) ?? hostname,
    entries: (groups.get(hostname) ?? []).toSorted(compareEntries),
  }));
  for (const { hostname, entries } of table)
    reportOvertaking(entries, groups.get(hostname) ?? [], routes, diagnostics);
  return table;
}

function compareEntries({ match: a }: RouteEntry, { match: b }: RouteEntry): number {
  return compareRanks(a, b);
}

function compareRanks(a: MatchRank, b: MatchRank): number {
  return (
    pathRank(b) - pathRank(a) ||
    b.path.value.length - a.path.value.length ||
    Number(b.method !== undefined) - Number(a.method !== undefined) ||
    b.headers.length - a.headers.length ||
    b.query.length - a.query.length
  );
}

function pathRank({ path }: MatchRank): number {
  return { exact: 2, prefix: 1, regex: 0 }[path.kind];
}

/**
 * Reports matches of delegated routes that take a request from an entry which precedes their delegating route.
 * Routes of a group only decide on requests that the delegating route gets. `sorted` has the order of the table,
 * `declared` that of the configuration.
 */
function reportOvertaking(
  sorted: readonly RouteEntry[],
  declared: readonly RouteEntry[],
  routes: readonly TableRoute[],
  diagnostics: Diagnostics,
): void {
  sorted.forEach((entry, index) => {
    if (entry.match.ranks === undefined) return;
    const first = sorted.slice(index + 1).find((other) => {
      const order = compareWays(other.match, entry.match);
      const isFirst =
        order < 0 || (order === 0 && declared.indexOf(other) < declared.indexOf(entry));
      return isFirst && mayBoth(other.match, entry.match);
    });
    const by = routes.find(({ route }) => route.id === first?.route)?.route;
    if (first === undefined || by === undefined) return;
    const related = [{ at: first.match.origin, label: "this match" }];
    diagnostics.report("overtaking-route", entry.match.origin, { by: by.name }, related);
  });
}

/** Compares two matches at the first level of delegation at which they differ. */
function compareWays(a: RouteMatch, b: RouteMatch): number {
  const [way, other] = [a.ranks ?? [a], b.ranks ?? [b]];
  const parting = way.findIndex((rank, index) => rank !== other[index]);
  const [first, second] = [way[parting], other[parting]];
  return first === undefined || second === undefined ? 0 : compareRanks(first, second);
}

/** Whether a request can match both, judging by paths and methods. */
function mayBoth(a: RouteMatch, b: RouteMatch): boolean {
  if (a.method !== undefined && b.method !== undefined && a.method !== b.method) return false;
  return mayBothPaths(a.path, b.path);
}

function mayBothPaths(a: PathMatch, b: PathMatch): boolean {
  if (a.kind === "regex" || b.kind === "regex") return true;
  return isPathOf(a, b) || isPathOf(b, a);
}

function isPathOf({ value }: PathMatch, { kind, value: outer }: PathMatch): boolean {
  if (value === outer) return true;
  return kind === "prefix" && value.startsWith(outer === "/" ? "/" : `${outer}/`);
}

/**
 * Reports routes that no listener ever chooses, and matches of others that are never chosen. A route of a file may be
 * several in the program, one for each set of policies that its listeners add, so places identify them.
 */
export function reportUnreachable(
  listeners: readonly Pick<ListenerNode, "table" | "routes">[],
  diagnostics: Diagnostics,
): void {
  const byId = new Map(listeners.flatMap(({ routes }) => routes.map((each) => [each.id, each])));
  const shadowed = new Map<RouteEntry, RouteEntry>();
  const reached = new Set<string>();
  for (const { entries } of listeners.flatMap(({ table }) => table)) {
    for (const [entry, by] of shadowedEntries(entries)) shadowed.set(entry, by);
    for (const entry of entries) {
      const route = byId.get(entry.route);
      if (route === undefined || shadowed.has(entry) || entry.match.isDerived) continue;
      reached.add(placeKey(entry.match.origin));
      reached.add(placeKey(route.origin));
    }
  }
  const reportedMatches = new Set<string>();
  const reportedRoutes = new Set<string>();
  for (const [{ match, route: id }, by] of shadowed) {
    const route = byId.get(id);
    const other = byId.get(by.route);
    const place = placeKey(match.origin);
    if (route === undefined || other === undefined || match.isDerived) continue;
    const isReached = reached.has(placeKey(route.origin));
    if ((isReached && reached.has(place)) || reportedMatches.has(place)) continue;
    reportedMatches.add(place);
    const related = [{ at: by.match.origin, label: "this match comes first" }];
    if (isReached) {
      diagnostics.report("unreachable-match", match.origin, { by: other.name }, related);
    } else if (!reportedRoutes.has(placeKey(route.origin))) {
      reportedRoutes.add(placeKey(route.origin));
      // In a file a shadowed route is an error of its author; in a cluster routes of several owners may overlap.
      const code = route.origin.resource === undefined ? "unreachable-route" : "shadowed-route";
      diagnostics.report(code, route.origin, { route: route.name, by: other.name }, related);
    }
  }
}

/** Maximum number of pairs of a pattern and a prefix that are compared. */
const MAX_COMPARED = 100_000;

/**
 * Reports patterns of a file that agentgateway would choose before a shorter prefix of another route, which precedes
 * them here.
 */
export function reportPrecededPatterns(
  listeners: readonly Pick<ListenerNode, "table" | "routes">[],
  diagnostics: Diagnostics,
): void {
  const byId = new Map(listeners.flatMap(({ routes }) => routes.map((each) => [each.id, each])));
  const reported = new Set<string>();
  for (const { entries } of listeners.flatMap(({ table }) => table)) {
    const prefixes = entries.filter(({ match: { path } }) => path.kind === "prefix");
    const patterns = entries.filter(({ match: { path } }) => path.kind === "regex");
    if (prefixes.length * patterns.length > MAX_COMPARED) continue;
    for (const { match, route } of patterns) {
      const place = placeKey(match.origin);
      if (match.origin.resource !== undefined || match.isDerived || reported.has(place)) continue;
      const first = prefixes.find((each) => each.route !== route && precedes(each.match, match));
      const by = byId.get(first?.route ?? "");
      if (first === undefined || by === undefined) continue;
      reported.add(place);
      const related = [{ at: first.match.origin, label: "this prefix comes first" }];
      const params = { by: by.name, prefix: first.match.path.value };
      diagnostics.report("pattern-after-prefix", match.origin, params, related);
    }
  }
}

/** Whether a prefix takes requests of a longer pattern, but not all of them, which is reported as unreachable. */
function precedes(prefix: RouteMatch, pattern: RouteMatch): boolean {
  const { value } = prefix.path;
  if (value === "/" || value.length >= pattern.path.value.length) return false;
  return coversRest(prefix, pattern) && canBeginWith(pattern.path.value, `${value}/`);
}

/**
 * Yields the entries that an earlier entry of the same hostname covers. A path can only be covered by an equal
 * path or by a prefix of it, so each entry is compared with the entries for these only: linear in the size of the
 * table.
 */
function* shadowedEntries(entries: readonly RouteEntry[]): Generator<[RouteEntry, RouteEntry]> {
  const seen = new Map<string, RouteEntry[]>();
  for (const entry of entries) {
    const by = coveringPaths(entry.match)
      .flatMap((key) => seen.get(key) ?? [])
      .find((earlier) => coversRest(earlier.match, entry.match));
    if (by !== undefined) yield [entry, by];
    const key = pathKey(entry.match);
    const known = seen.get(key);
    if (known === undefined) seen.set(key, [entry]);
    else known.push(entry);
  }
}

function pathKey({ path }: RouteMatch): string {
  return `${path.kind} ${path.value}`;
}

/** Returns the keys of paths that match whenever this one does and can precede it in the table. */
function coveringPaths(match: RouteMatch): string[] {
  return match.path.kind === "regex" ? [pathKey(match), "prefix /"] : [pathKey(match)];
}

function coversRest(earlier: RouteMatch, later: RouteMatch): boolean {
  return (
    (earlier.method === undefined || earlier.method === later.method) &&
    coversValues(earlier.headers, later.headers) &&
    coversValues(earlier.query, later.query)
  );
}

function coversValues(earlier: readonly ValueMatch[], later: readonly ValueMatch[]): boolean {
  return earlier.every((each) =>
    later.some(
      (other) =>
        other.name === each.name &&
        other.value.kind === each.value.kind &&
        other.value.value === each.value.value,
    ),
  );
}
