import { customPolicyCalls } from "../../../../runtime/metrics/table/custom.ts";
import { guardChecks } from "../../../../runtime/metrics/table/guards.ts";
import { policiesBefore } from "../../../ir/access.ts";
import type { PolicyKind, PolicyUse } from "../../../ir/policies.ts";
import { routeGuards } from "../../../ir/route-guards.ts";
import { servedRoutes } from "../../../ir/routes.ts";
import { policyOf } from "../../../policies/index.ts";
import type { LiveView } from "../view.ts";
import type { CustomPolicyData, GuardData } from "./admin-api.ts";

/** Returns the guards of all routes. Their counters are by phase and number, so routes with equal numbers share them. */
export function guardData(view: LiveView): readonly GuardData[] {
  const samples = view.samples(guardChecks);
  const routes = new Map<string, Set<string>>();
  for (const { route } of servedRoutes(view.current.program))
    for (const node of routeGuards(route))
      for (const phase of ["request", "response"] as const)
        for (const [index, { kind }] of node[phase].entries()) {
          const key = `${phase} ${index + 1}.${kind}`;
          routes.set(key, (routes.get(key) ?? new Set()).add(route.name));
        }
  return Array.from(routes, ([key, names]) => {
    const [phase = "", guard = ""] = key.split(" ");
    const own = samples.filter(({ labels }) => labels.phase === phase && labels.guard === guard);
    return {
      routes: [...names],
      phase: phase === "response" ? "response" : "request",
      guard,
      actions: own.map(({ labels: { action = "" }, value }) => ({ action, count: value })),
    };
  });
}

/** Returns the custom policies of all routes and listeners, with the calls of their hooks. */
export function customData(view: LiveView): readonly CustomPolicyData[] {
  const samples = view.samples(customPolicyCalls);
  const found = new Map<string, { hooks: Set<string>; routes: Set<string> }>();
  for (const { route, listeners } of servedRoutes(view.current.program))
    for (const use of [...listeners.flatMap(policiesBefore), ...route.policies])
      for (const [name, hooks] of hooksOf(use)) {
        const known = found.get(name) ?? { hooks: new Set(), routes: new Set() };
        for (const hook of hooks) known.hooks.add(hook);
        known.routes.add(route.name);
        found.set(name, known);
      }
  return Array.from(found, ([policy, { hooks, routes }]) => ({
    policy,
    routes: [...routes],
    hooks: [...hooks].map((hook) => ({
      hook,
      results: samples
        .filter(({ labels }) => labels.policy === policy && labels.hook === hook)
        .map(({ labels: { result = "" }, value }) => ({ result, count: value })),
    })),
  }));
}

function hooksOf<Kind extends PolicyKind>({
  kind,
  settings,
}: PolicyUse<Kind>): ReadonlyMap<string, readonly string[]> {
  return policyOf(kind).traits.customHooks?.(settings) ?? new Map();
}
