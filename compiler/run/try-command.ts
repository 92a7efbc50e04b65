import type { Program, RouteEntry, RouteNode } from "../ir/program.ts";

/** A shell command that tries the gateway's first route, as a person would; undefined when none is simple enough. */
export function tryCommand(program: Program): string | undefined {
  for (const bind of program.binds) {
    for (const { hostname, routes, table } of bind.listeners) {
      if (bind.tls !== undefined || hostname !== "*") continue;
      const entry = table.find((host) => host.hostname === "*")?.entries.find(isPlain);
      const route = routes.find(({ id }) => id === entry?.route);
      if (entry !== undefined && route !== undefined) return commandFor(route, entry, bind.port);
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

function commandFor({ backends }: RouteNode, { match }: RouteEntry, port: number): string {
  if (backends.some(({ kind }) => kind === "dynamic"))
    return `curl -i -x http://127.0.0.1:${port} http://example.com${match.path.value}`;
  const isMcp = backends.some((backend) => backend.kind === "mcp");
  const path =
    isMcp && match.path.kind === "prefix" && match.path.value === "/" ? "/mcp" : match.path.value;
  const url = `http://127.0.0.1:${port}${path}`;
  if (!isMcp) return `curl -i ${url}`;
  return `npx -y @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list`;
}
