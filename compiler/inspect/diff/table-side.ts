import { createHash } from "node:crypto";
import { policiesBefore } from "../../ir/access.ts";
import type { HostEntries, ListenerNode, RouteEntry, RouteNode } from "../../ir/program.ts";
import type { ValueMatch } from "../../model/matches.ts";
import { policiesKey, routeKey } from "./route-key.ts";

/** The routing table of a listener, on one side of a comparison. */
export interface TableSide {
  /** Returns the table for requests to a host. */
  readonly entriesFor: (host: string) => TableOfHost;
  /** Returns the route of an entry; `undefined` for no entry. */
  readonly routeOf: (entry: RouteEntry | undefined) => RouteNode | undefined;
  /** Returns a key that is equal for routes with the same effect, including the listener's policies. */
  readonly keyOf: (route: RouteNode | undefined) => string;
}

/** The entries for requests to a host, in order. */
export interface TableOfHost {
  readonly entries: readonly RouteEntry[];
  /** A string per entry, equal for entries with the same match and effect. */
  readonly lines: readonly string[];
  /** Equal for tables with the same lines. */
  readonly key: string;
}

/** Reads the table of a listener; empty if the listener is `undefined`. */
export function tableSide(listener: ListenerNode | undefined): TableSide {
  const { routes: all, table } = answersItself(listener) ?? listener ?? { routes: [], table: [] };
  const routes = new Map(all.map((route) => [route.id, route]));
  const before = policiesKey(policiesBefore(listener));
  const keyOf = (route: RouteNode | undefined): string =>
    route === undefined ? "" : `${before} ${routeKey(route)}`;
  const routeOf = (entry: RouteEntry | undefined) => entry && routes.get(entry.route);
  const groups = table.map(({ shared, entries }, at): PlacedGroup => {
    const lines = entries.map((entry) => lineOf(entry, keyOf(routeOf(entry))));
    return { at, shared, entries, lines, key: digest(lines) };
  });
  const byHost = Map.groupBy(groups, ({ shared }) => shared);
  const entriesFor = (host: string): TableOfHost => {
    const own = patternsFor(host).flatMap((pattern) => byHost.get(pattern) ?? []);
    const inOrder = own.toSorted((a, b) => a.at - b.at);
    return {
      entries: inOrder.flatMap(({ entries }) => entries),
      lines: inOrder.flatMap(({ lines }) => lines),
      key: digest(inOrder.flatMap(({ key, lines }) => (lines.length === 0 ? [] : [key]))),
    };
  };
  return { entriesFor, routeOf, keyOf };
}

interface PlacedGroup extends TableOfHost {
  /** Index in the table. */
  readonly at: number;
  readonly shared: string;
}

/** Lists all patterns that cover a host: itself, the wildcards of its domains, and `*`. */
function patternsFor(host: string): readonly string[] {
  const labels = host.split(".");
  const wildcards = labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join(".")}`);
  return [host, ...wildcards, "*"];
}

function lineOf({ match: { path, method, headers, query } }: RouteEntry, key: string): string {
  const values = (all: readonly ValueMatch[]) =>
    all.map(({ name, value }) => [name, value.kind, value.value]);
  return JSON.stringify([path.kind, path.value, method, values(headers), values(query), key]);
}

function digest(lines: readonly string[]): string {
  const hash = createHash("sha256");
  for (const line of lines) hash.update(line).update("\n");
  return hash.digest("base64url");
}

/** Returns a catch-all table for a listener whose own policies answer every request. */
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
