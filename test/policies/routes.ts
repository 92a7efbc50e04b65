import { startCompiled } from "../harness/compiled-routes.ts";
import type { Echo } from "../harness/echo.ts";
import type { GatewayProcess } from "../harness/process.ts";

/** A route by its policies, as they stand in the file. */
export interface RouteCase {
  readonly policies: Readonly<Record<string, unknown>>;
  /** `{ pathPrefix: /NAME }` unless given. */
  readonly paths?: readonly Readonly<Record<string, string>>[];
  /** The echo alone unless given. */
  readonly backends?: readonly Readonly<Record<string, unknown>>[];
}

/** Starts a compiled gateway with these routes; each answers below its name. */
export function startRoutes(
  routes: Readonly<Record<string, RouteCase>>,
  upstream: Echo,
  files: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  return startCompiled(routesText(routes, upstream), files);
}

/** The routes as YAML. */
export function routesText(routes: Readonly<Record<string, RouteCase>>, upstream: Echo): string {
  const list = Object.entries(routes).map(([name, { policies, paths, backends }]) => ({
    name,
    matches: (paths ?? [{ pathPrefix: `/${name}` }]).map((path) => ({ path })),
    policies,
    backends: backends ?? [{ host: new URL(upstream.url).host }],
  }));
  return list.map((route) => `- ${JSON.stringify(route)}`).join("\n");
}
