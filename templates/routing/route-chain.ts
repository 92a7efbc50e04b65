import type { HostEntries, RouteEntry } from "../../compiler/ir/program.ts";
import { code, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Expression, Hole } from "../code/hole.ts";
import { name } from "../code/names.ts";
import { ifStatement } from "../code/statements.ts";
import { matchConditions } from "./match.ts";

/** Statements that choose a route; complete if the last one always returns. */
export interface RouteChain {
  readonly statements: readonly Hole[];
  readonly isComplete: boolean;
  /** Locals that the statements read. */
  readonly reads: readonly ("hostname" | "path")[];
}

/** Writes a routing table as a chain of conditions, in order of precedence. */
export function routeChain(
  table: readonly HostEntries[],
  dispatch: (entry: RouteEntry) => Code,
  expressions: Expressions,
): RouteChain {
  const statements: Hole[] = [];
  let isComplete = false;
  for (const { hostname, entries } of table) {
    const { lines, isClosed } = hostLines(entries, dispatch, expressions);
    if (hostname === "*") {
      statements.push(...lines);
      isComplete = isClosed;
    } else {
      statements.push(code`
        if (${hostConditions(hostname)}) {
          ${lines}
        }
      `);
    }
  }
  const entries = table.flatMap((host) => host.entries);
  return {
    statements,
    isComplete,
    reads: [
      ...(table.some(({ hostname }) => hostname !== "*") ? (["hostname"] as const) : []),
      ...(entries.some(({ match: { path } }) => path.kind !== "prefix" || path.value !== "/")
        ? (["path"] as const)
        : []),
    ],
  };
}

function hostLines(
  entries: readonly RouteEntry[],
  dispatch: (entry: RouteEntry) => Code,
  expressions: Expressions,
): { readonly lines: readonly Hole[]; readonly isClosed: boolean } {
  const lines: Hole[] = [];
  for (const entry of entries) {
    const conditions = matchConditions(entry.match, expressions);
    lines.push(conditional(conditions, dispatch(entry)));
    if (conditions.length === 0) return { lines, isClosed: true };
  }
  return { lines, isClosed: false };
}

/**
 * Returns the conditions under which a host name matches a pattern; none for `*`. `local` is the variable with the
 * name.
 */
export function hostConditions(hostname: string, local = "hostname"): readonly Code[] {
  if (hostname === "*") return [];
  const subject = name(local);
  if (hostname.startsWith("*.")) return [code`${subject}.endsWith(${literal(hostname.slice(1))})`];
  return [code`${subject} === ${literal(hostname)}`];
}

/** Writes `if (a && b) statement`, or the statement alone without conditions. */
export function conditional(conditions: readonly Expression[], statement: Code): Hole {
  return conditions.length === 0 ? statement : ifStatement(conditions, statement);
}
