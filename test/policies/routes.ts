import type { Gateway } from "../harness/gateway.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";

/** A route by its policies, as in the file. */
export interface RouteCase {
  readonly policies: Readonly<Record<string, unknown>>;
  /** `{ pathPrefix: /NAME }` if absent. */
  readonly paths?: readonly Readonly<Record<string, string>>[];
  /** Only the upstream if absent. */
  readonly backends?: readonly Readonly<Record<string, unknown>>[];
}

/** The upstream of a test's routes. */
export interface RouteUpstream {
  readonly url: string;
}

/** For routes with their own backends. */
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

/** Returns the routes as YAML. */
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
