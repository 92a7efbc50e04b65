import { isDeepStrictEqual } from "node:util";
import type { PromptGuardNode } from "../backends/ai/guards.ts";
import { promptGuards } from "../backends/index.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import type { PolicyUse } from "./policies.ts";
import type { RouteNode } from "./program.ts";

/** Returns the distinct guards of texts of a route: those of its policies, and those of its backends. */
export function routeGuards({
  policies,
  backends,
}: Pick<RouteNode, "policies" | "backends">): readonly PromptGuardNode[] {
  const found: PromptGuardNode[] = [];
  for (const guard of [...policies.flatMap(ownGuard), ...backends.flatMap(promptGuards)])
    if (!found.some((each) => isDeepStrictEqual(each, guard))) found.push(guard);
  return found;
}

function ownGuard<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): readonly PromptGuardNode[] {
  const guard = policyOf(kind).traits.promptGuard?.(settings);
  return guard === undefined ? [] : [guard];
}
