import type { ListenerNode } from "../../compiler/ir/program.ts";
import type { PathMatch } from "../../compiler/model/matches.ts";
import type { Printable } from "../code/hole.ts";

/** The paths of routes as patterns, by listener and route: `{ shop: { search: "/search/*" } }`. A route of several has none. */
export function routePaths(listeners: readonly ListenerNode[]): Printable {
  const byName = Map.groupBy(listeners, ({ name }) => name);
  return Object.fromEntries(
    Array.from(byName, ([name, same]) => [name, Object.fromEntries(same.flatMap(pathsOf))]),
  );
}

function pathsOf({ routes, table }: ListenerNode): readonly (readonly [string, string])[] {
  const entries = table.flatMap((host) => host.entries);
  return routes.flatMap(({ id, name }) => {
    const own = entries.filter(({ route, match }) => route === id && !match.isDerived);
    const [first, ...others] = new Set(own.map(({ match }) => pattern(match.path)));
    return first === undefined || others.length > 0 ? [] : [[name, first] as const];
  });
}

function pattern({ kind, value }: PathMatch): string {
  return kind === "prefix" ? `${value.replace(/\/$/, "")}/*` : value;
}
