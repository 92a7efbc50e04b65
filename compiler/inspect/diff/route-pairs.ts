import { policiesBefore } from "../../ir/access.ts";
import type { HostEntries, ListenerNode, RouteEntry, RouteNode } from "../../ir/program.ts";
import type { PathMatch, ValueMatch } from "../../model/matches.ts";
import { CANONICAL_PATH, stringClasses } from "../effect/strings/string-classes.ts";
import type { StringFeature } from "../effect/strings/string-feature.ts";
import { coversHost, matchesPath, matchesValue } from "../routing/match-request.ts";
import type { ListenerPair } from "./listener-pairs.ts";
import { type PairRegion, waysOf } from "./pair-region.ts";
import { policiesKey, routeKey } from "./route-key.ts";

/** Requests that go to one route before and to another one, or the same, after; undefined: nowhere. */
export interface RoutePair {
  readonly before: RouteNode | undefined;
  readonly after: RouteNode | undefined;
  /** Requests that do, one for each kind of path and host. */
  readonly requests: readonly RoutedRequest[];
  /** Which requests do, as conditions. */
  readonly region: () => PairRegion;
}

/** A request as far as routing sees it. */
export interface RoutedRequest {
  readonly host: string;
  /** It stands for hosts that neither listeners nor routes name. */
  readonly isAnyHost: boolean;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** What routing does differently, and what can't be worked out. */
export interface RoutePairs {
  readonly pairs: readonly RoutePair[];
  readonly undecided: readonly string[];
}

/** More combinations of methods, headers and parameters than this are not tried. */
const MAX_COMBINATIONS = 2_000;

/**
 * Where requests go before and after: all pairs of routes that are different in what they do, with what their listeners
 * do before them. Hosts, paths and values are taken apart into classes that no match tells apart, and one of each is
 * looked up in both tables.
 */
export function routePairs({ before, after, hosts }: ListenerPair): RoutePairs {
  const [old, now] = [sideOf(before), sideOf(after)];
  const pairs = new Map<string, FoundPair>();
  const undecided: string[] = [];
  for (const { host, isAny } of hosts) {
    const [first, second] = [old.entriesFor(host), now.entriesFor(host)];
    if (signature(first, old) === signature(second, now)) continue;
    const { paths, isComplete } = pathsOf([...first, ...second]);
    if (!isComplete) undecided.push(`paths of ${host}: their patterns have too many cases`);
    const known = new Map<string, readonly RouteConditions[] | undefined>();
    for (const path of paths) {
      const [a, b] = [rowsAt(first, path), rowsAt(second, path)];
      const key = `${signature(a, old)}\n\n${signature(b, now)}`;
      if (signature(a, old) === signature(b, now)) continue;
      const requests = known.has(key) ? known.get(key) : requestsFor([...a, ...b]);
      known.set(key, requests);
      if (requests === undefined) undecided.push(`${host}${path}: too many conditions on headers`);
      for (const request of requests ?? []) {
        const whole = { ...request, host, isAnyHost: isAny, path };
        const [from, to] = [old.routeOf(a, whole), now.routeOf(b, whole)];
        if (old.keyOf(from) === now.keyOf(to)) continue;
        const id = `${from?.id}\n${to?.id}`;
        const pair: FoundPair = pairs.get(id) ?? {
          requests: [],
          tables: new Map(),
          ...(from && { before: from }),
          ...(to && { after: to }),
        };
        pair.requests.push(whole);
        pair.tables.set(host, [first, second]);
        pairs.set(id, pair);
      }
    }
  }
  const found = [...pairs.values()].map((pair) => ({
    before: pair.before,
    after: pair.after,
    requests: pair.requests,
    region: () =>
      [...pair.tables.values()].flatMap(([first, second]) =>
        waysOf(first, second, pair.before?.id ?? "", pair.after?.id ?? ""),
      ),
  }));
  return { pairs: found, undecided };
}

/** A pair while its requests are gathered. */
interface FoundPair {
  readonly before?: RouteNode;
  readonly after?: RouteNode;
  readonly requests: RoutedRequest[];
  /** What each host's requests are looked up in. */
  readonly tables: Map<string, readonly [readonly RouteEntry[], readonly RouteEntry[]]>;
}

interface Side {
  readonly entriesFor: (host: string) => readonly RouteEntry[];
  readonly routeOf: (rows: readonly RouteEntry[], request: RoutedRequest) => RouteNode | undefined;
  /** The same for requests with which the same is done: by the listener, and by their route. */
  readonly keyOf: (route: RouteNode | undefined) => string;
  readonly routes: ReadonlyMap<string, RouteNode>;
}

function sideOf(listener: ListenerNode | undefined): Side {
  const { routes: all, table } = answersItself(listener) ?? listener ?? { routes: [], table: [] };
  const routes = new Map(all.map((route) => [route.id, route]));
  const before = policiesKey(policiesBefore(listener));
  return {
    keyOf: (route) => (route === undefined ? "" : `${before} ${routeKey(route)}`),
    entriesFor: (host) =>
      table.filter(({ shared }) => coversHost(shared, host)).flatMap(({ entries }) => entries),
    routeOf: (rows, request) => {
      const row = rows.find(({ match }) => fits(match, request));
      return row && routes.get(row.route);
    },
    routes,
  };
}

/** A listener whose own policies answer every request, as if it had a route for all of them. */
function answersItself(
  listener: ListenerNode | undefined,
): { readonly routes: readonly RouteNode[]; readonly table: readonly HostEntries[] } | undefined {
  if (listener?.preRouting?.isFinal !== true) return undefined;
  const { id, name, hostname, origin } = listener;
  const match = {
    path: { kind: "prefix", value: "/" },
    ...{ method: undefined, headers: [], query: [], isDerived: true, origin },
  } as const;
  return {
    routes: [{ id, name, policies: [], backends: [], origin }],
    table: [{ hostname: "*", shared: hostname, entries: [{ match, route: id }] }],
  };
}

function signature(entries: readonly RouteEntry[], side: Side): string {
  return entries
    .map(({ match: { path, method, headers, query }, route }) =>
      [
        `${path.kind} ${path.value}`,
        method,
        ...[...headers, ...query].map(({ name, value }) => `${name} ${value.kind} ${value.value}`),
        side.keyOf(side.routes.get(route)),
      ].join("|"),
    )
    .join("\n");
}

/** A path of each kind that matches tell apart. */
function pathsOf(entries: readonly RouteEntry[]): {
  readonly paths: readonly string[];
  readonly isComplete: boolean;
} {
  const features = entries.flatMap(({ match }) => pathFeatures(match.path));
  const unique = [...new Map(features.map((each) => [`${each.kind} ${each.text}`, each])).values()];
  const { examples, isComplete } = stringClasses(unique, {
    pattern: CANONICAL_PATH,
    plain: ["/other", "/"],
  });
  return { paths: [...examples.values()], isComplete };
}

function pathFeatures({ kind, value }: PathMatch): readonly StringFeature[] {
  if (kind === "exact") return [{ kind: "equals", text: value }];
  if (kind === "regex") return [{ kind: "matches", text: `^(?:${value})$` }];
  if (value === "/") return [];
  return [
    { kind: "equals", text: value },
    { kind: "startsWith", text: `${value}/` },
  ];
}

/** The entries of a path in order, up to the first that takes every request for it. */
function rowsAt(entries: readonly RouteEntry[], path: string): readonly RouteEntry[] {
  const rows: RouteEntry[] = [];
  for (const entry of entries) {
    const { match } = entry;
    if (!matchesPath(match.path, path)) continue;
    rows.push(entry);
    if (match.method === undefined && match.headers.length + match.query.length === 0) break;
  }
  return rows;
}

type RouteConditions = Pick<RoutedRequest, "method" | "headers" | "query">;

/** A request for each combination of what rows ask for; undefined: there are too many. */
function requestsFor(rows: readonly RouteEntry[]): readonly RouteConditions[] | undefined {
  const methods = new Set(["GET", ...rows.flatMap(({ match }) => match.method ?? [])]);
  const other = ["PATCH", "PUT", "DELETE", "POST"].find((each) => !methods.has(each));
  if (rows.some(({ match }) => match.method !== undefined)) methods.add(other ?? "OTHER");
  const headers = valuesOf(rows.flatMap(({ match }) => match.headers));
  const query = valuesOf(rows.flatMap(({ match }) => match.query));
  const count = [methods.size, headers?.length, query?.length].reduce<number>(
    (product, each) => product * (each ?? Number.POSITIVE_INFINITY),
    1,
  );
  if (headers === undefined || query === undefined || count > MAX_COMBINATIONS) return undefined;
  return [...methods].flatMap((method) =>
    headers.flatMap((some) => query.map((each) => ({ method, headers: some, query: each }))),
  );
}

type Values = Readonly<Record<string, string>>;

/** Every combination of values, and of none, that conditions tell apart; undefined: there are too many. */
function valuesOf(matches: readonly ValueMatch[]): readonly Values[] | undefined {
  let all: readonly Values[] = [{}];
  for (const [name, conditions] of Map.groupBy(matches, (each) => each.name)) {
    const features = conditions.map(
      ({ value }): StringFeature =>
        value.kind === "exact"
          ? { kind: "equals", text: value.value }
          : { kind: "matches", text: `^(?:${value.value})$` },
    );
    const { examples, isComplete } = stringClasses(features, {
      pattern: undefined,
      plain: ["other"],
    });
    if (!isComplete || all.length * examples.size > MAX_COMBINATIONS) return undefined;
    all = all.flatMap((values) => [
      values,
      ...[...examples.values()].map((value) => ({ ...values, [name]: value })),
    ]);
  }
  return all;
}

function fits(
  { path, method, headers, query }: RouteEntry["match"],
  request: RoutedRequest,
): boolean {
  return (
    matchesPath(path, request.path) &&
    (method === undefined || method === request.method) &&
    headers.every((each) => matchesValue(each, request.headers[each.name])) &&
    query.every((each) => matchesValue(each, request.query[each.name]))
  );
}
