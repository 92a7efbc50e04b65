import type { RouteEntry, RouteNode } from "../../ir/program.ts";
import type { PathMatch, ValueMatch } from "../../model/matches.ts";
import { CANONICAL_PATH, stringClasses } from "../effect/strings/string-classes.ts";
import type { StringFeature } from "../effect/strings/string-feature.ts";
import { type Work, withinSteps, workOfCommand } from "../effect/work/work.ts";
import { matchesPath, matchesValue } from "../routing/match-request.ts";
import { changedEntries } from "./changed-entries.ts";
import type { HostExample, ListenerPair } from "./listener-pairs.ts";
import { type PairRegion, waysOf } from "./pair-region.ts";
import { shortList } from "./short-list.ts";
import { type TableSide, tableSide } from "./table-side.ts";

/** Requests that reach one route before and another (or a changed) one after; `undefined` if they reach no route. */
export interface RoutePair {
  readonly before: RouteNode | undefined;
  readonly after: RouteNode | undefined;
  /** Example requests, one for each class of paths and hosts. */
  readonly requests: readonly RoutedRequest[];
  /** Returns the conditions of these requests; `undefined` if there are too many. */
  readonly region: () => PairRegion | undefined;
}

/** Parts of a request that routing reads. */
export interface RoutedRequest {
  readonly host: string;
  /** Whether it represents all hosts that neither listeners nor routes name. */
  readonly isAnyHost: boolean;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** Result of comparing routing, with undecided questions. */
export interface RoutePairs {
  readonly pairs: readonly RoutePair[];
  readonly undecided: readonly string[];
}

/** Maximum number of combinations of methods, headers and parameters. */
const MAX_COMBINATIONS = 2_000;

/** Maximum number of example requests for a pair. */
const MAX_REQUESTS = 50;

/** Maximum number of host tables of a pair; beyond it, its conditions are not computed. */
const MAX_TABLES = 20;

/**
 * Finds all pairs of routes with different effects, including the policies of their listeners. Hosts, paths and values are
 * divided into classes that no match distinguishes, and an example of each is looked up in both tables. Each host is a
 * question of its own.
 */
export function routePairs(
  { before, after, hosts }: ListenerPair,
  work: Work = workOfCommand(),
): RoutePairs {
  const sides = [tableSide(before), tableSide(after)] as const;
  const pairs = new Map<string, FoundPair>();
  const undecided: string[] = [];
  const tooMany: string[] = [];
  for (const host of hosts) {
    const open = withinSteps(() => hostPairs(host, sides, pairs, work.question()));
    if (open === undefined) tooMany.push(host.host);
    else undecided.push(...open);
  }
  if (tooMany.length > 0)
    undecided.push(`routes of ${shortList(tooMany)}: too many cases to check all`);
  const found = [...pairs.values()].map((pair) => ({
    before: pair.before,
    after: pair.after,
    requests: pair.requests,
    region: () => regionOf(pair, work.question()),
  }));
  return { pairs: found, undecided };
}

/** A pair under construction. */
interface FoundPair {
  readonly before?: RouteNode;
  readonly after?: RouteNode;
  readonly requests: RoutedRequest[];
  /** Distinct tables of its hosts. */
  readonly tables: Map<string, readonly [readonly RouteEntry[], readonly RouteEntry[]]>;
}

/** Adds the differences for a host to `pairs`; returns undecided questions. */
function hostPairs(
  { host, isAny }: HostExample,
  [old, now]: readonly [TableSide, TableSide],
  pairs: Map<string, FoundPair>,
  work: Work,
): readonly string[] {
  const [first, second] = [old.entriesFor(host), now.entriesFor(host)];
  if (first.key === second.key) return [];
  const undecided: string[] = [];
  const { changed, ...relevant } = changedEntries(first, second, work);
  const { paths, isComplete } = pathsOf([...relevant.before, ...relevant.after], work);
  if (!isComplete) undecided.push(`paths of ${host}: their patterns have too many cases`);
  const [oldAt, nowAt] = [pathIndex(relevant.before, work), pathIndex(relevant.after, work)];
  const areChanged = new Set(changed);
  for (const path of paths) {
    const met = [oldAt(path), nowAt(path)] as const;
    if (!met.flat().some((entry) => areChanged.has(entry))) continue;
    const [a, b] = [upToFinal(met[0]), upToFinal(met[1])];
    const requests = requestsFor([...a, ...b], work);
    if (requests === undefined) undecided.push(`${host}${path}: too many conditions on headers`);
    work.spend(4 * (requests?.length ?? 0) * (a.length + b.length));
    for (const request of requests ?? []) {
      const whole = { ...request, host, isAnyHost: isAny, path };
      const fitting = (rows: readonly RouteEntry[]) => rows.find(({ match }) => fits(match, whole));
      const [from, to] = [old.routeOf(fitting(a)), now.routeOf(fitting(b))];
      if (old.keyOf(from) === now.keyOf(to)) continue;
      const id = `${from?.id}\n${to?.id}`;
      const pair: FoundPair = pairs.get(id) ?? {
        requests: [],
        tables: new Map(),
        ...(from && { before: from }),
        ...(to && { after: to }),
      };
      if (pair.requests.length < MAX_REQUESTS) pair.requests.push(whole);
      pair.tables.set(`${first.key} ${second.key}`, [first.entries, second.entries]);
      pairs.set(id, pair);
    }
  }
  return undecided;
}

/** Returns the conditions of a pair's requests; `undefined` if there are too many. */
function regionOf({ before, after, tables }: FoundPair, work: Work): PairRegion | undefined {
  if (tables.size > MAX_TABLES) return undefined;
  return withinSteps(() =>
    [...tables.values()].flatMap(([first, second]) =>
      waysOf(first, second, before?.id ?? "", after?.id ?? "", work),
    ),
  );
}

/** Returns an example path for each class that matches distinguish. */
function pathsOf(
  entries: readonly RouteEntry[],
  work: Work,
): {
  readonly paths: readonly string[];
  readonly isComplete: boolean;
} {
  const features = entries.flatMap(({ match }) => pathFeatures(match.path));
  const unique = [...new Map(features.map((each) => [`${each.kind} ${each.text}`, each])).values()];
  const domain = { pattern: CANONICAL_PATH, plain: ["/other", "/"] };
  const { examples, isComplete } = stringClasses(unique, domain, work);
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

/** Returns the entries of a path up to the first that matches every request for it. */
function upToFinal(entries: readonly RouteEntry[]): readonly RouteEntry[] {
  const end = entries.findIndex(
    ({ match }) => match.method === undefined && match.headers.length + match.query.length === 0,
  );
  return end < 0 ? entries : entries.slice(0, end + 1);
}

type RouteConditions = Pick<RoutedRequest, "method" | "headers" | "query">;

/** Returns a request for each combination of conditions; `undefined` if there are too many. */
function requestsFor(
  rows: readonly RouteEntry[],
  work: Work,
): readonly RouteConditions[] | undefined {
  const methods = new Set(["GET", ...rows.flatMap(({ match }) => match.method ?? [])]);
  const other = ["PATCH", "PUT", "DELETE", "POST"].find((each) => !methods.has(each));
  if (rows.some(({ match }) => match.method !== undefined)) methods.add(other ?? "OTHER");
  const headers = valuesOf(
    rows.flatMap(({ match }) => match.headers),
    work,
  );
  const query = valuesOf(
    rows.flatMap(({ match }) => match.query),
    work,
  );
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

/** Returns every combination of values, including absence, that conditions distinguish; `undefined` if there are too many. */
function valuesOf(matches: readonly ValueMatch[], work: Work): readonly Values[] | undefined {
  let all: readonly Values[] = [{}];
  for (const [name, conditions] of Map.groupBy(matches, (each) => each.name)) {
    const features = conditions.map(
      ({ value }): StringFeature =>
        value.kind === "exact"
          ? { kind: "equals", text: value.value }
          : { kind: "matches", text: `^(?:${value.value})$` },
    );
    const domain = { pattern: undefined, plain: ["other"] };
    const { examples, isComplete } = stringClasses(features, domain, work);
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

/** Returns a function that finds the entries that match a path, in order. Constants are looked up, as there may be thousands. */
function pathIndex(
  entries: readonly RouteEntry[],
  work: Work,
): (path: string) => readonly RouteEntry[] {
  work.spend(8 * entries.length);
  const placed = entries.map((entry, at) => ({ entry, at }));
  const ofKind = (kind: string) =>
    Map.groupBy(
      placed.filter(({ entry }) => entry.match.path.kind === kind),
      ({ entry }) => entry.match.path.value,
    );
  const [exact, prefixes] = [ofKind("exact"), ofKind("prefix")];
  const patterns = placed.filter(({ entry }) => entry.match.path.kind === "regex");
  return (path) => {
    const starts = ["/", path, ...startsOf(path)];
    work.spend(8 + 4 * starts.length + patterns.length * (8 + path.length));
    const found = [
      ...(exact.get(path) ?? []),
      ...new Set(starts.flatMap((start) => prefixes.get(start) ?? [])),
      ...patterns.filter(({ entry }) => matchesPath(entry.match.path, path)),
    ];
    work.spend(4 * found.length);
    return found.sort((a, b) => a.at - b.at).map(({ entry }) => entry);
  };
}

/** Returns `/a` and `/a/b` for `/a/b/c`. */
function startsOf(path: string): readonly string[] {
  const starts: string[] = [];
  for (let at = path.indexOf("/", 1); at > 0; at = path.indexOf("/", at + 1))
    starts.push(path.slice(0, at));
  return starts;
}
