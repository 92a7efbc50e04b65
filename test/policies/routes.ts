import type { Gateway } from "../harness/gateway.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";

/** A route by its policies, as they stand in the file. */
export interface RouteCase {
  readonly policies: Readonly<Record<string, unknown>>;
  /** `{ pathPrefix: /NAME }` unless given. */
  readonly paths?: readonly Readonly<Record<string, string>>[];
  /** The upstream alone unless given. */
  readonly backends?: readonly Readonly<Record<string, unknown>>[];
}

/** Where the routes of a test lead. */
export interface RouteUpstream {
  readonly url: string;
}

/** For routes that name their backends themselves. */
export const nowhere: RouteUpstream = { url: "http://127.0.0.1:1" };

/** Starts a compiled gateway with these routes; each is below its name. */
export function startRoutes(
  routes: Readonly<Record<string, RouteCase>>,
  upstream: RouteUpstream,
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  return startRoutesText(routesText(routes, upstream), files, env);
}

/** The routes as YAML. */
export function routesText(
  routes: Readonly<Record<string, RouteCase>>,
  upstream: RouteUpstream,
): string {
  const list = Object.entries(routes).map(([name, { policies, paths, backends }]) => ({
    name,
    matches: (paths ?? [{ pathPrefix: `/${name}` }]).map((path) => ({ path })),
    policies,
    backends: backends ?? [{ host: new URL(upstream.url).host }],
  }));
  return list.map((route) => `- ${JSON.stringify(route)}`).join("\n");
}
