import {
  closed,
  type DraftFields,
  type DraftMatch,
  type DraftValue,
  type RouteDraft,
} from "./route-draft.ts";

/** Conditions on a request whose paths may match by plain string prefix, not only by segments. */
export interface OrderedMatch extends Omit<DraftMatch, "path"> {
  readonly path?: OrderedPath | undefined;
}

/** An exact path, a string prefix, or a pattern for whole paths. */
export interface OrderedPath {
  readonly kind: "exact" | "start" | "regex";
  readonly value: string;
}

/** A route of a proxy that uses the first match in a list. */
export interface OrderedRoute {
  readonly name: string;
  readonly matches: readonly OrderedMatch[];
  readonly policies: DraftFields;
  readonly backends: readonly DraftFields[];
  readonly notes: readonly string[];
  /** Reason why the route must be closed; `undefined` if it can serve. */
  readonly problem?: string | undefined;
}

/**
 * Converts first-match routes to gwc, which uses the most specific route. A route that would take requests from an earlier
 * one is closed with a note. gwc's prefixes match whole segments, so `/a` itself, which is not below `/a/`, gets a route of
 * its own.
 */
export function draftsInOrder(all: readonly OrderedRoute[]): readonly RouteDraft[] {
  const routes = belowPatterns(reached(all));
  return routes.flatMap((route, at) => {
    const above = routes.slice(0, at);
    const robbed = above.find((other) =>
      other.matches.some((a) => route.matches.some((b) => mayBoth(a, b) && rankOrder(b, a) > 0)),
    );
    const problem =
      route.problem ??
      (robbed && `it would take requests from "${robbed.name}", which precedes it`);
    const draft = draftOf(route, problem);
    return [draft, ...atTheirStart(route, routes)];
  });
}

/** Drops matches that an earlier match covers entirely, and routes that have no matches left. */
function reached(routes: readonly OrderedRoute[]): readonly OrderedRoute[] {
  return routes.flatMap((route, at) => {
    const above = routes.slice(0, at).flatMap(({ matches }) => matches);
    const matches = route.matches.filter((match) => !above.some((each) => covers(each, match)));
    return matches.length === 0 ? [] : [{ ...route, matches }];
  });
}

/** Turns catch-all paths that follow a pattern into the pattern `.*`, because gwc ranks prefixes above patterns. */
function belowPatterns(routes: readonly OrderedRoute[]): readonly OrderedRoute[] {
  return routes.map((route, at) => {
    const patterns = routes
      .slice(0, at)
      .flatMap(({ matches }) => matches.filter(({ path }) => path?.kind === "regex"));
    const matches = route.matches.map((match): OrderedMatch => {
      const isAny = match.path === undefined || isEverything(match.path);
      const isBelow = isAny && patterns.some((each) => mayBoth(each, match));
      return isBelow ? { ...match, path: ANY_PATH } : match;
    });
    return { ...route, matches };
  });
}

const ANY_PATH: OrderedPath = { kind: "regex", value: ".*" };

function isEverything({ kind, value }: OrderedPath): boolean {
  return kind === "start" && value === "/";
}

/** Whether a match covers every request of another one. */
function covers(
  { path, method, headers = [], query = [] }: OrderedMatch,
  other: OrderedMatch,
): boolean {
  if (headers.length > 0 || query.length > 0) return false;
  if (method !== undefined && method !== other.method) return false;
  if (path === undefined || isEverything(path)) return true;
  if (path.kind === "regex" || other.path === undefined || other.path.kind === "regex")
    return false;
  if (path.kind === "start") return other.path.value.startsWith(path.value);
  return other.path.kind === "exact" && other.path.value === path.value;
}

function draftOf(route: OrderedRoute, problem: string | undefined): RouteDraft {
  const { name, policies, backends } = route;
  const loose = route.matches.flatMap(({ path }) =>
    path?.kind === "start" && !path.value.endsWith("/")
      ? [
          `"${path.value}x" also matched this route; in gwc only the path itself and paths below "${path.value}/" match`,
        ]
      : [],
  );
  const matches = route.matches.map(({ path, ...rest }) => ({ ...rest, ...draftPath(path) }));
  const draft = { name, matches, policies, backends, notes: [...route.notes, ...loose] };
  return problem === undefined ? draft : closed(draft, problem);
}

function draftPath(path: OrderedPath | undefined): Pick<DraftMatch, "path"> {
  if (path === undefined) return { path: { kind: "prefix", value: "/" } };
  if (path.kind !== "start") return { path: { kind: path.kind, value: path.value } };
  return { path: { kind: "prefix", value: path.value.replace(/(?<=.)\/$/, "") } };
}

/** Returns a route for `/a` where a route matches the prefix `/a/`: a copy of the first route that matches `/a`. */
function atTheirStart(
  { matches }: OrderedRoute,
  routes: readonly OrderedRoute[],
): readonly RouteDraft[] {
  return matches.flatMap((match) => {
    const { path } = match;
    if (path?.kind !== "start" || path.value === "/" || !path.value.endsWith("/")) return [];
    const own: OrderedMatch = { ...match, path: { kind: "exact", value: path.value.slice(0, -1) } };
    const other = routes.find((each) => each.matches.some((one) => mayBoth(one, own)));
    // A route that names the path exactly already matches it.
    const isNamed = other?.matches.some((one) => one.path?.kind === "exact");
    if (other === undefined || isNamed === true) return [];
    return [
      draftOf({ ...other, name: own.path?.value ?? other.name, matches: [own] }, other.problem),
    ];
  });
}

/** Compares two matches: positive if gwc ranks the first one above the second. */
function rankOrder(a: OrderedMatch, b: OrderedMatch): number {
  const [one, other] = [rank(a), rank(b)];
  const at = one.findIndex((each, index) => each !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

function rank({ path, method, headers = [], query = [] }: OrderedMatch): readonly number[] {
  const { kind, value } = draftPath(path).path ?? { kind: "prefix", value: "/" };
  const kinds = { exact: 2, prefix: 1, regex: 0 };
  return [kinds[kind], value.length, Number(method !== undefined), headers.length, query.length];
}

/** Whether a request may match both. */
function mayBoth(a: OrderedMatch, b: OrderedMatch): boolean {
  if (a.method !== undefined && b.method !== undefined && a.method !== b.method) return false;
  if (differ(a.headers, b.headers) || differ(a.query, b.query)) return false;
  if (a.path === undefined || b.path === undefined) return true;
  return isOf(a.path, b.path) || isOf(b.path, a.path);
}

/** Whether paths of the first one may match the other. */
function isOf(path: OrderedPath, other: OrderedPath): boolean {
  const [one, two] = [literalStart(path), literalStart(other)];
  if (path.kind === "regex" || other.kind === "regex")
    return one.startsWith(two) || two.startsWith(one);
  return (
    path.value === other.value || (other.kind === "start" && path.value.startsWith(other.value))
  );
}

/** Returns the literal prefix of all matching paths; of a pattern its leading literal characters, unless it has branches. */
function literalStart({ kind, value }: OrderedPath): string {
  if (kind !== "regex") return value;
  if (value.includes("|")) return "";
  // A character with a quantifier is not part of the prefix, as it may be missing.
  return /^(?:[\w/-](?![*?{]))*/.exec(value)?.[0] ?? "";
}

function differ(some: readonly DraftValue[] = [], others: readonly DraftValue[] = []): boolean {
  return some.some((one) =>
    others.some(
      (other) =>
        one.name.toLowerCase() === other.name.toLowerCase() &&
        one.kind === "exact" &&
        other.kind === "exact" &&
        one.value !== other.value,
    ),
  );
}
