import type { HostEntries, RouteEntry } from "../../compiler/ir/program.ts";
import { code, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression, ImportSymbol } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import { conjunction } from "../code/statements.ts";
import { arrow, call, listExpression } from "../code/syntax.ts";
import { otherConditions } from "./match.ts";

/** What the rows of a table are written with. */
export interface TableContext {
  readonly expressions: Expressions;
  /** The route's name as logs have it, and the function that answers its requests. */
  readonly route: (entry: RouteEntry) => { readonly label: string; readonly handler: Code };
}

/** The rows of a host name, or some that follow each other; the entries of a row have one path. */
export interface HostRows {
  readonly hostname: string;
  readonly rows: readonly (readonly RouteEntry[])[];
}

/** A routing table as rows, in the order of precedence. */
export function rowsOf(table: readonly HostEntries[]): readonly HostRows[] {
  return table.map(({ hostname, entries }) => ({ hostname, rows: groups(entries) }));
}

/** A routing table as a constant, in the order of precedence: what stands above wins. */
export function routeTableCode(
  table: readonly HostEntries[],
  constant: string,
  context: TableContext,
): Code {
  return tableCode(constant, hostRowsCode(rowsOf(table), context));
}

/** The same of parts: what imports them, in their order. */
export function joinedTableCode(parts: readonly ImportSymbol[], constant: string): Code {
  return tableCode(
    constant,
    parts.map((part) => code`...${part},`),
  );
}

/** Rows as the items of a list. */
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

/** The runtime's tables. */
export const ROUTE_TABLE = "gwc/runtime/http/routing/route-table";

function hostCode({ hostname, rows }: HostRows, context: TableContext): Code {
  const own = listExpression(rows.map((entries) => row(entries, context)));
  return code`${call(imported(ROUTE_TABLE, "onHost"), [literal(hostname), own])},`;
}

/** The entries of each path. Patterns keep their place: two of them may fit one path. */
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
