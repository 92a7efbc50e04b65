import { createHash } from "node:crypto";
import type { RouteNode } from "../../ir/program.ts";
import { settingsKey } from "../../ir/settings-text.ts";

const keys = new WeakMap<RouteNode, string>();

/** The same for routes that do the same, whatever they are called; short, for it is compared in every row of a table. */
export function routeKey(route: RouteNode | undefined): string {
  if (route === undefined) return "";
  const known = keys.get(route);
  if (known !== undefined) return known;
  const settings = settingsKey([route.policies, route.backends]);
  const key = createHash("sha256").update(settings).digest("base64url");
  keys.set(route, key);
  return key;
}
