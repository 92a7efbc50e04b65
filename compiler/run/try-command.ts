import { type BackendKind, backendOf } from "../backends/index.ts";
import type { Program, RouteEntry } from "../ir/program.ts";

/** A shell command that tries the gateway's first route, as a person would; undefined when none is simple enough. */
export function tryCommand(program: Program): string | undefined {
  for (const bind of program.binds) {
    for (const { hostname, routes, table } of bind.listeners) {
      if (bind.tls !== undefined || hostname !== "*") continue;
      const entry = table.find((host) => host.hostname === "*")?.entries.find(isPlain);
      const route = routes.find(({ id }) => id === entry?.route);
      if (entry === undefined || route === undefined) continue;
      return commandOf(route.backends[0]?.kind ?? "host", entry, bind.port);
    }
  }
  return undefined;
}

/** An entry that a path alone reaches. */
function isPlain({ match }: RouteEntry): boolean {
  const { path, method, headers, query, isDerived } = match;
  return (
    !isDerived &&
    path.kind !== "regex" &&
    method === undefined &&
    headers.length + query.length === 0
  );
}

function commandOf<Kind extends BackendKind>(
  kind: Kind,
  { match }: RouteEntry,
  port: number,
): string {
  return backendOf(kind).tryCommand(port, match.path);
}
