import { findForHost, type HostTable, hostTable, lengthsOf } from "../../net/host-table.ts";
import type { Exchange, Handler } from "../exchange.ts";

/**
 * Routing of a listener with many routes: a lookup by host name, then by path. It decides as a chain of conditions in Gateway
 * API precedence would: the most specific host name first; within it the exact path, then the longest prefix, then patterns. If
 * all conditions of the matches fail, the next less specific host name is used.
 */
export type RouteTable = HostTable<PathTable>;

/** The paths of one host name. */
interface PathTable {
  readonly exact: ReadonlyMap<string, readonly Target[]>;
  readonly prefixes: ReadonlyMap<string, readonly Target[]>;
  /** Lengths of the prefixes, longest first. */
  readonly lengths: readonly number[];
  /** Targets of the prefix `/`. */
  readonly root: readonly Target[] | undefined;
  readonly patterns: readonly PatternRow[];
}

/** A route that a request may take. */
export interface Target {
  /** Name of the route, for logs and metrics. */
  readonly route: string;
  readonly handler: Handler;
  /** Condition of the request besides its host and path. */
  readonly condition: ((exchange: Exchange) => boolean) | undefined;
}

/** Common part of some paths with its targets; the first one whose condition holds gets the request. */
export type PathRow =
  | {
      readonly kind: "exact" | "prefix";
      readonly path: string;
      readonly targets: readonly Target[];
    }
  | PatternRow;

interface PatternRow {
  readonly kind: "pattern";
  readonly fits: (path: string) => boolean;
  readonly targets: readonly Target[];
}

/** Paths of a host name, or some of them. */
export interface HostPaths {
  readonly hostname: string;
  readonly paths: readonly PathRow[];
}

/**
 * Creates a table from host names (exact, `*.example.com`, `*`) with the rows of their paths. A host name may occur in several
 * parts.
 */
export function routeTable(parts: readonly HostPaths[]): RouteTable {
  const hosts = Map.groupBy(parts, ({ hostname }) => hostname);
  return hostTable(
    [...hosts].map(([hostname, own]) => [hostname, pathTable(own.flatMap(({ paths }) => paths))]),
  );
}

/** Assigns rows to a host name: each exact path and each prefix once, patterns in order. */
export function onHost(hostname: string, paths: readonly PathRow[]): HostPaths {
  return { hostname, paths };
}

/** Creates a row for one path. */
export function exactPath(path: string, ...targets: readonly Target[]): PathRow {
  return { kind: "exact", path, targets };
}

/** Creates a row for a path and everything below it, by whole segments. The path has no final slash, unless it is `/`. */
export function pathPrefix(path: string, ...targets: readonly Target[]): PathRow {
  return { kind: "prefix", path, targets };
}

/** Creates a row for the paths that match a pattern. */
export function pathPattern(
  fits: (path: string) => boolean,
  ...targets: readonly Target[]
): PathRow {
  return { kind: "pattern", fits, targets };
}

/** Creates a target: a route by name, with the condition under which it takes a request. */
export function toRoute(
  route: string,
  handler: Handler,
  condition?: (exchange: Exchange) => boolean,
): Target {
  return { route, handler, condition };
}

/** Returns the target of a request; `undefined` if none matches. */
export function lookUp(table: RouteTable, exchange: Exchange): Target | undefined {
  return findForHost(table, exchange.hostname, targetIn, exchange);
}

function pathTable(rows: readonly PathRow[]): PathTable {
  const exact = new Map<string, readonly Target[]>();
  const prefixes = new Map<string, readonly Target[]>();
  const patterns: PatternRow[] = [];
  for (const row of rows) {
    if (row.kind === "pattern") patterns.push(row);
    else (row.kind === "exact" ? exact : prefixes).set(row.path, row.targets);
  }
  const root = prefixes.get("/");
  prefixes.delete("/");
  return { exact, prefixes, lengths: lengthsOf(prefixes), root, patterns };
}

function targetIn(table: PathTable, exchange: Exchange): Target | undefined {
  const { path } = exchange;
  const { exact, root, patterns } = table;
  return (
    (exact.size === 0 ? undefined : firstOf(exact.get(path), exchange)) ??
    targetAbove(table, path, exchange) ??
    firstOf(root, exchange) ??
    (patterns.length === 0 ? undefined : targetByPattern(patterns, path, exchange))
  );
}

/** Looks up only prefixes of lengths in the table, so a path of a thousand segments costs no more. */
function targetAbove(
  { prefixes, lengths }: PathTable,
  path: string,
  exchange: Exchange,
): Target | undefined {
  for (const length of lengths) {
    if (length > path.length) continue;
    const isWhole = length === path.length;
    if (!isWhole && path.charCodeAt(length) !== SLASH) continue;
    const target = firstOf(prefixes.get(isWhole ? path : path.slice(0, length)), exchange);
    if (target !== undefined) return target;
  }
  return undefined;
}

function targetByPattern(
  rows: readonly PatternRow[],
  path: string,
  exchange: Exchange,
): Target | undefined {
  for (const { fits, targets } of rows) {
    const target = fits(path) ? firstOf(targets, exchange) : undefined;
    if (target !== undefined) return target;
  }
  return undefined;
}

const SLASH = 0x2f;

function firstOf(targets: readonly Target[] | undefined, exchange: Exchange): Target | undefined {
  if (targets === undefined) return undefined;
  for (const target of targets) {
    if (target.condition === undefined || target.condition(exchange)) return target;
  }
  return undefined;
}
