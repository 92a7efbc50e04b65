import type { HostEntries, RouteEntry } from "../../compiler/ir/program.ts";
import { code, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import { conjunction } from "../code/statements.ts";
import { arrow, call } from "../code/syntax.ts";
import { otherConditions } from "./match.ts";

/** What the rows of a table are written with. */
export interface TableContext {
  readonly expressions: Expressions;
  /** The route's name as logs have it, and the function that answers its requests. */
  readonly route: (entry: RouteEntry) => { readonly label: string; readonly handler: Code };
}

/** A routing table as a constant, in the order of precedence: what stands above wins. */
export function routeTableCode(
  table: readonly HostEntries[],
  constant: string,
  context: TableContext,
): Code {
  return code`
    const ${name(constant)}: ${importedType(MODULE, "RouteTable")} = ${imported(MODULE, "routeTable")}([
      ${table.map((host) => hostRows(host, context))}
    ]);
  `;
}

const MODULE = "gwc/runtime/http/routing/route-table";

function hostRows({ hostname, entries }: HostEntries, context: TableContext): Code {
  const rows = groups(entries).map((group) => row(group, context));
  return code`
    ${imported(MODULE, "onHost")}(${literal(hostname)}, [
      ${rows.map((each) => code`${each},`)}
    ]),
  `;
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
      return call(imported(MODULE, "exactPath"), [literal(path.value), ...targets]);
    case "prefix":
      return call(imported(MODULE, "pathPrefix"), [literal(path.value), ...targets]);
    case "regex": {
      const fits = arrow([name("path")], context.expressions.use(path.test));
      return call(imported(MODULE, "pathPattern"), [fits, ...targets]);
    }
    case undefined:
      throw new Error("a row without entries");
  }
}

function target(entry: RouteEntry, { route, expressions }: TableContext): Expression {
  const { label, handler } = route(entry);
  const conditions = otherConditions(entry.match, expressions);
  const test = conditions.length === 0 ? [] : [arrow([name("exchange")], conjunction(conditions))];
  return call(imported(MODULE, "toRoute"), [literal(label), handler, ...test]);
}
