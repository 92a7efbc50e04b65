import type { HostEntries, RouteEntry } from "../../compiler/ir/program.ts";
import { code, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression, ImportSymbol } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import { conjunction } from "../code/statements.ts";
import { arrow, call, listExpression } from "../code/syntax.ts";
import { otherConditions } from "./match.ts";

/** Context of the rows of a table. */
export interface TableContext {
  readonly expressions: Expressions;
  /** Returns the route's name in logs, and the function that handles its requests. */
  readonly route: (entry: RouteEntry) => { readonly label: string; readonly handler: Expression };
}

/** Consecutive rows of a host name; all entries of a row have the same path. */
export interface HostRows {
  readonly hostname: string;
  readonly rows: readonly (readonly RouteEntry[])[];
}

/** Returns a routing table as rows, in order of precedence. */
export function rowsOf(table: readonly HostEntries[]): readonly HostRows[] {
  return table.map(({ hostname, entries }) => ({ hostname, rows: groups(entries) }));
}

/** Writes a routing table as a constant, in order of precedence: earlier rows win. */
export function routeTableCode(
  table: readonly HostEntries[],
  constant: string,
  context: TableContext,
): Code {
  return tableCode(constant, hostRowsCode(rowsOf(table), context));
}

/** Writes a routing table that joins imported parts, in order. */
export function joinedTableCode(parts: readonly ImportSymbol[], constant: string): Code {
  return tableCode(
    constant,
    parts.map((part) => code`...${part},`),
  );
}

/** Writes rows as items of a list. */
export function hostRowsCode(hosts: readonly HostRows[], context: TableContext): readonly Code[] {
  return hosts.map((host) => hostCode(host, context));
}

function tableCode(constant: string, items: readonly Code[]): Code {
  return code`
    const ${name(constant)}: ${importedType(ROUTE_TABLE, "RouteTable")} = ${imported(ROUTE_TABLE, "routeTable")}([
      ${items}
    ]);
  `;
}

/** Module of the runtime's tables. */
export const ROUTE_TABLE = "gwc/runtime/http/routing/route-table";

function hostCode({ hostname, rows }: HostRows, context: TableContext): Code {
  const own = listExpression(rows.map((entries) => row(entries, context)));
  return code`${call(imported(ROUTE_TABLE, "onHost"), [literal(hostname), own])},`;
}

/** Groups entries by path. Patterns keep their order, because two of them may match the same path. */
function groups(entries: readonly RouteEntry[]): readonly (readonly RouteEntry[])[] {
  const found: RouteEntry[][] = [];
  const byPath = new Map<string, RouteEntry[]>();
  for (const entry of entries) {
    const { kind, value } = entry.match.path;
    const key = `${kind} ${value}`;
    const known = byPath.get(key);
    if (known !== undefined && (kind !== "regex" || known === found.at(-1))) {
      known.push(entry);
    } else {
      const group = [entry];
      found.push(group);
      byPath.set(key, group);
    }
  }
  return found;
}

function row(entries: readonly RouteEntry[], context: TableContext): Expression {
  const targets = entries.map((entry) => target(entry, context));
  const path = entries[0]?.match.path;
  switch (path?.kind) {
    case "exact":
      return call(imported(ROUTE_TABLE, "exactPath"), [literal(path.value), ...targets]);
    case "prefix":
      return call(imported(ROUTE_TABLE, "pathPrefix"), [literal(path.value), ...targets]);
    case "regex": {
      const fits = arrow([name("path")], context.expressions.use(path.test));
      return call(imported(ROUTE_TABLE, "pathPattern"), [fits, ...targets]);
    }
    case undefined:
      throw new Error("a row without entries");
  }
}

function target(entry: RouteEntry, { route, expressions }: TableContext): Expression {
  const { label, handler } = route(entry);
  const conditions = otherConditions(entry.match, expressions);
  const test = conditions.length === 0 ? [] : [arrow([name("exchange")], conjunction(conditions))];
  return call(imported(ROUTE_TABLE, "toRoute"), [literal(label), handler, ...test]);
}
