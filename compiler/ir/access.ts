import { partialRules } from "../backends/index.ts";
import { isSamePlace } from "../diagnostics/diagnostic.ts";
import type { AccessCheck } from "../model/access.ts";
import { useOfShare } from "../policies/authorization.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import type { PolicyUse } from "./policies.ts";
import type { ListenerNode, RouteBackendNode, RouteNode } from "./program.ts";

/** Returns the access checks of a policy. */
export function accessOf<Kind extends PolicyKind>(use: PolicyUse<Kind>): readonly AccessCheck[] {
  return policyOf(use.kind).access?.checks?.(use.settings) ?? [];
}

/**
 * Returns the policies that decide before the route of a request is chosen, in order: for its connection, then those of
 * its listener.
 */
export function policiesBefore(
  listener: Pick<ListenerNode, "admission" | "preRouting"> | undefined,
): readonly PolicyUse[] {
  return [...(listener?.admission ?? []), ...(listener?.preRouting?.policies ?? [])];
}

/**
 * Returns the policies that a request on a route passes, in order: those of its listener, its own, and those of its
 * backend.
 */
export function policiesMet(
  listener: Pick<ListenerNode, "admission" | "preRouting"> | undefined,
  route: Pick<RouteNode, "policies" | "backends">,
): readonly PolicyUse[] {
  const partial = route.backends.flatMap(partialRules).map(useOfShare);
  return [...allPolicies(listener, route), ...partial];
}

/** Returns the policies of listener and route that decide about access, and all others. */
export function decidedPolicies(
  listener: Pick<ListenerNode, "admission" | "preRouting"> | undefined,
  route: Pick<RouteNode, "policies" | "backends">,
): readonly PolicyUse[] {
  const own = new Set(route.backends.flatMap(({ ownPolicies = [] }) => ownPolicies));
  return allPolicies(listener, route).filter((use) => !own.has(use) || decidesAll(use));
}

/** Returns the policies of listener, route and backends, without rules about part of a backend's requests. */
export function allPolicies(
  listener: Pick<ListenerNode, "admission" | "preRouting"> | undefined,
  { policies, backends }: Pick<RouteNode, "policies" | "backends">,
): readonly PolicyUse[] {
  const asked = backends.flatMap(({ ownPolicies = [] }) => ownPolicies).filter(decidesAccess);
  // Servers of one name have the same policies.
  const once = asked.filter(({ origin }, at) => asked.findIndex(isAt(origin)) === at);
  return [...policiesBefore(listener), ...policies, ...once];
}

/** Returns a backend without the rules that every request of its route passes. */
export function withoutRules(node: RouteBackendNode): RouteBackendNode {
  const { ownPolicies = [] } = node;
  const left = ownPolicies.filter((use) => !decidesAll(use));
  return left.length === ownPolicies.length ? node : { ...node, ownPolicies: left };
}

/** Whether the decisions of a policy depend only on its identities and rules. */
export function decidesAll<Kind extends PolicyKind>(use: PolicyUse<Kind>): boolean {
  const checks = accessOf(use);
  return checks.length > 0 && checks.every(({ kind }) => kind !== "outside");
}

function decidesAccess<Kind extends PolicyKind>(use: PolicyUse<Kind>): boolean {
  return accessOf(use).length > 0;
}

function isAt(origin: PolicyUse["origin"]) {
  return (use: PolicyUse): boolean => isSamePlace(use.origin, origin);
}
