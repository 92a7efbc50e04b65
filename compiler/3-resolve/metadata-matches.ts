import type { RouteMatch, RouteNode } from "../ir/program.ts";

/** Well-known names whose URLs carry the path of what they describe behind them (RFC 9728 3.1, RFC 8414 3.1 and 5). */
const WELL_KNOWN = [
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
];

/**
 * The matches of the OAuth metadata of a route with mcpAuthentication: one for each of its paths, so that users need not
 * list them. The metadata is reachable whatever method and headers the route itself asks for.
 */
export function metadataMatches(
  { policies, origin }: RouteNode,
  matches: readonly RouteMatch[],
): readonly RouteMatch[] {
  if (!policies.some((use) => use.kind === "mcpAuthentication")) return [];
  // A prefix `/` takes the metadata's URLs along; the resource `/` itself has nothing behind the well-known names.
  const paths = matches.flatMap(({ path }) => {
    if (path.kind === "regex" || (path.kind === "prefix" && path.value === "/")) return [];
    return [path.value === "/" ? "" : path.value];
  });
  return [...new Set(paths)].flatMap((path) =>
    WELL_KNOWN.map((name) => ({
      path: { kind: "prefix", value: `${name}${path}` },
      method: undefined,
      headers: [],
      query: [],
      isDerived: true,
      origin,
    })),
  );
}
