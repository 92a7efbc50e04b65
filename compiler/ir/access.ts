import type { AccessCheck } from "../model/access.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import type { PolicyUse } from "./policies.ts";
import type { ListenerNode, RouteBackendNode, RouteNode } from "./program.ts";

/** What a policy decides about access. */
export function accessOf<Kind extends PolicyKind>(use: PolicyUse<Kind>): readonly AccessCheck[] {
  return policyOf(use.kind).access?.(use.settings) ?? [];
}

/** What decides before the route of a request is chosen, in order: about its connection, then as its listener says. */
export function policiesBefore(
  listener: Pick<ListenerNode, "admission" | "preRouting"> | undefined,
): readonly PolicyUse[] {
  return [...(listener?.admission ?? []), ...(listener?.preRouting?.policies ?? [])];
}

/** The policies that a request to a route meets, in order: those of its listener, its own, and what its backend asks. */
export function policiesMet(
  listener: Pick<ListenerNode, "admission" | "preRouting"> | undefined,
  { policies, backends }: Pick<RouteNode, "policies" | "backends">,
): readonly PolicyUse[] {
  const asked = backends.flatMap(({ ownPolicies = [] }) => ownPolicies).filter(decidesAccess);
  // The servers of one name have the same ones.
  const once = asked.filter(({ origin }, at) => asked.findIndex(isAt(origin)) === at);
  return [...policiesBefore(listener), ...policies, ...once];
}

/** Those of them that say by themselves who may, and all others of listener and route. */
export function decidedPolicies(
  listener: Pick<ListenerNode, "admission" | "preRouting"> | undefined,
  route: Pick<RouteNode, "policies" | "backends">,
): readonly PolicyUse[] {
  const own = new Set(route.backends.flatMap(({ ownPolicies = [] }) => ownPolicies));
  return policiesMet(listener, route).filter((use) => !own.has(use) || decidesAll(use));
}

/** A backend without the rules that every request of its route meets. */
export function withoutRules(node: RouteBackendNode): RouteBackendNode {
  const { ownPolicies = [] } = node;
  const left = ownPolicies.filter((use) => !decidesAll(use));
  return left.length === ownPolicies.length ? node : { ...node, ownPolicies: left };
}

/** Whether all that a policy does is decided from its identities and rules. */
export function decidesAll<Kind extends PolicyKind>(use: PolicyUse<Kind>): boolean {
  const checks = accessOf(use);
  return checks.length > 0 && checks.every(({ kind }) => kind !== "outside");
}

function decidesAccess<Kind extends PolicyKind>(use: PolicyUse<Kind>): boolean {
  return accessOf(use).length > 0;
}

function isAt(origin: PolicyUse["origin"]) {
  return (use: PolicyUse): boolean => use.origin === origin;
}
