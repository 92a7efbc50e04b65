import { createHash } from "node:crypto";
import type { PolicyUse } from "../../ir/policies.ts";
import type { RouteNode } from "../../ir/program.ts";
import { settingsKey } from "../../ir/settings-text.ts";

const keys = new WeakMap<RouteNode, string>();

/** The same for routes that do the same, whatever they are called; short, for it is compared in every row of a table. */
export function routeKey(route: RouteNode | undefined): string {
  if (route === undefined) return "";
  const known = keys.get(route);
  if (known !== undefined) return known;
  const key = digest([route.policies, route.backends, route.refusal]);
  keys.set(route, key);
  return key;
}

/** The same for policies that do the same. */
export function policiesKey(policies: readonly PolicyUse[]): string {
  return policies.length === 0 ? "" : digest(policies);
}

function digest(settings: unknown): string {
  return createHash("sha256").update(settingsKey(settings)).digest("base64url");
}
