import { createHash } from "node:crypto";
import type { PolicyUse } from "../../ir/policies.ts";
import type { RouteNode } from "../../ir/program.ts";
import { settingsKey } from "../../ir/settings-text.ts";

const keys = new WeakMap<RouteNode, string>();

/** Returns a key that is equal for routes with the same effect, regardless of names; a digest, as tables compare it for every entry. */
export function routeKey(route: RouteNode | undefined): string {
  if (route === undefined) return "";
  const known = keys.get(route);
  if (known !== undefined) return known;
  const key = digest([route.policies, route.backends, route.refusal]);
  keys.set(route, key);
  return key;
}

/** Returns a key that is equal for policies with the same effect. */
export function policiesKey(policies: readonly PolicyUse[]): string {
  return policies.length === 0 ? "" : digest(policies);
}

function digest(settings: unknown): string {
  return createHash("sha256").update(settingsKey(settings)).digest("base64url");
}
