import { hash } from "node:crypto";
import type { Expression } from "../../templates/code/hole.ts";
import type { MainNames } from "../../templates/modules/main-names.ts";
import { routeHandler } from "../../templates/modules/route.ts";
import type { TablePart } from "../../templates/modules/table-part.ts";
import { type HostRows, rowsOf } from "../../templates/routing/route-table.ts";
import type { ListenerNode, Program, RouteEntry } from "../ir/program.ts";
import { kebabCase } from "../model/identifiers.ts";

/** Maximum number of conditions of a table in `main.ts`, which is written by each compilation. */
const MAX_TABLE = 500;
/** Average number of rows of a part, and maximum number of conditions of a host that shares its part. */
const PART = 64;

/**
 * Splits long tables into parts, by the ids of their listeners. Whether a row starts a part depends on the row alone,
 * so adding, removing or changing a route alters one part and leaves the others unchanged.
 */
export function tableParts(
  program: Program,
  names: MainNames,
): ReadonlyMap<string, readonly TablePart[]> {
  const listeners = program.binds.flatMap((bind) => bind.listeners);
  const long = listeners.filter((listener) => conditionsOf(listener) > MAX_TABLE);
  if (long.length === 0) return new Map();
  const taken = new Set(listeners.flatMap(({ routes }) => routes.map(({ id }) => id)));
  return new Map(
    long.map((listener): readonly [string, readonly TablePart[]] => {
      const table = names.listeners.get(listener.id)?.table ?? listener.id;
      return [listener.id, partsOf(rowsOf(listener.table), table, taken)];
    }),
  );
}

/**
 * Returns the handlers that parts of tables contain, by the ids of their routes: those of routes that only forward, of
 * which a long table usually has many that differ in nothing but values. In a cluster, each route has a module, so that
 * a running gateway can replace it without opening the connections of its neighbors again.
 */
export function tableHandlers(
  program: Program,
  parts: ReadonlyMap<string, readonly TablePart[]>,
): ReadonlyMap<string, Expression> {
  const found = new Map<string, Expression>();
  if (program.deployment !== undefined || parts.size === 0) return found;
  const uses = new Map<string, number>();
  const listeners = program.binds.flatMap((bind) => bind.listeners);
  for (const { entries } of listeners.flatMap(({ table }) => table))
    for (const { route } of entries) uses.set(route, (uses.get(route) ?? 0) + 1);
  for (const route of listeners.flatMap(({ id, routes }) => (parts.has(id) ? routes : []))) {
    const handler = uses.get(route.id) === 1 ? routeHandler(route) : undefined;
    if (handler !== undefined) found.set(route.id, handler);
  }
  return found;
}

/** Returns the number of conditions of a listener's table. */
function conditionsOf({ table }: ListenerNode): number {
  return table.reduce((sum, { entries }) => sum + conditionsIn(entries), 0);
}

/** Returns the number of conditions of matches: a path, headers and parameters for each. */
function conditionsIn(entries: readonly RouteEntry[]): number {
  return entries.reduce((sum, { match: { headers, query } }) => {
    return sum + 1 + headers.length + query.length;
  }, 0);
}

function partsOf(
  hosts: readonly HostRows[],
  table: string,
  taken: Set<string>,
): readonly TablePart[] {
  const found: { readonly name: string; readonly hosts: HostRows[] }[] = [];
  let wasLong = false;
  for (const { hostname, rows } of hosts) {
    // A long host has parts of its own, so that changes of others do not write it again.
    const isLong = conditionsIn(rows.flat()) > PART;
    const isApart = isLong || wasLong;
    wasLong = isLong;
    let own: (readonly RouteEntry[])[] = [];
    const begin = (digest: string) => {
      own = [];
      const name = freeName(`${table}${digest.slice(0, 8)}`, taken);
      found.push({ name, hosts: [{ hostname, rows: own }] });
    };
    for (const [index, row] of rows.entries()) {
      const { kind, value } = row[0]?.match.path ?? { kind: "", value: "" };
      const digest = hash("sha256", `${hostname} ${kind} ${value}`);
      const part = found.at(-1);
      const isFirst = part === undefined || (index === 0 && isApart);
      if (isFirst || Number.parseInt(digest.slice(-8), 16) % PART === 0) begin(digest);
      else if (index === 0) part.hosts.push({ hostname, rows: own });
      own.push(row);
    }
  }
  return found.map((part) => ({ ...part, path: `tables/${kebabCase(part.name)}.ts` }));
}

/** Returns a free name. No name of a route contains `_`. */
function freeName(wanted: string, taken: Set<string>): string {
  const name = taken.has(wanted) ? freeName(`${wanted}_`, taken) : wanted;
  taken.add(name);
  return name;
}
