import { type BackendConfig, serverAddress } from "../backends/index.ts";
import type { NamedServer, ServerReference } from "../backends/parts/named-server.ts";
import { findBackend } from "../config/named-backends.ts";
import type { GatewayResource } from "../config/resources.ts";
import { type Diagnostics, keyPlace } from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import type { PolicyKind, PolicyUse } from "../ir/policies.ts";
import { identities, type PolicyConfig, policyOf, respondsToAll } from "../policies/index.ts";
import type { ResolveContext } from "../policies/policy.ts";
import type { ListenerContext } from "./listeners.ts";
import { afterPolicies } from "./provided-values.ts";

/** Place of policies. */
export type PolicyPlace = Pick<
  ResolveContext,
  "phase" | "route" | "isOnBackend" | "isOfShare" | "isOfConnections" | "later"
>;

/** A place without a known route, in which a policy is only checked by itself. */
export const withoutRoute: PolicyPlace = {
  phase: "PostRouting",
  route: {
    protocol: "http",
    asksModels: undefined,
    spendsTokens: undefined,
    policies: [],
    preRouting: [],
    optional: [],
    identityFields: [],
    itemTargets: undefined,
    modelNames: undefined,
    prefixes: ["/"],
  },
};

/** Returns the policies up to the first one that responds to every request, inclusive; reports those after it. */
export function effectivePolicies(
  policies: readonly PolicyConfig[],
  backends: readonly BackendConfig[],
  { diagnostics }: ListenerContext,
): { readonly policies: readonly PolicyConfig[]; readonly response: PolicyConfig | undefined } {
  const end = policies.findIndex(respondsToAll);
  const response = policies[end];
  if (response === undefined) return { policies, response };
  for (const { kind, origin } of policies.slice(end + 1)) {
    diagnostics.report("never-reached", keyPlace(origin), { what: `"${kind}"`, by: response.kind });
  }
  for (const { origin } of backends) {
    diagnostics.report("never-reached", keyPlace(origin), {
      what: "this backend",
      by: response.kind,
    });
  }
  return { policies: policies.slice(0, end + 1), response };
}

/** Resolves the policies in order; omits those with mistakes (reported). */
export function resolvePolicies(
  policies: readonly PolicyConfig[],
  place: PolicyPlace,
  context: ListenerContext,
): readonly PolicyUse[] {
  const kinds = policies.map(({ kind }) => kind);
  let route = place.route;
  return policies.flatMap((policy, index) => {
    const passed = new Set(kinds.slice(0, index));
    const later = new Set<string>(kinds.slice(index).filter((kind) => !passed.has(kind)));
    const own = place.isOnBackend === true ? {} : { later };
    const use = resolvePolicy(policy, { ...place, route, ...own }, context);
    route = afterPolicies(route, [policy], use === undefined ? [] : [use]);
    return use ?? [];
  });
}

/** Resolves a policy; returns `undefined` if it has mistakes (reported). */
export function resolvePolicy<Kind extends PolicyKind>(
  { kind, config, origin }: PolicyConfig<Kind>,
  place: PolicyPlace,
  context: ListenerContext,
): PolicyUse<Kind> | undefined {
  const settings = guarded(origin, context.diagnostics, () =>
    policyOf(kind).lowering.resolve(config, {
      ...context,
      ...place,
      identities,
      user: kind,
      origin,
    }),
  );
  return settings && { kind, settings, origin };
}

/** Returns the server that a named backend describes; `undefined` if it describes none (reported). */
export function namedServer(
  { user, name, origin }: ServerReference,
  backends: GatewayResource["backends"],
  diagnostics: Diagnostics,
): NamedServer | undefined {
  const found = findBackend(name, origin, backends, diagnostics);
  if (found === undefined) return undefined;
  const address = serverAddress(found);
  for (const own of found.ownPolicies ?? []) {
    const params = {
      field: `"${own.kind}"`,
      actsOn: "requests of routes",
      found: `those of "${user}"`,
    };
    diagnostics.report("misplaced-field", keyPlace(own.origin), params);
  }
  const { health } = found.policies ?? {};
  if (health !== undefined) {
    const params = { field: '"health"', user: `"${user}"` };
    diagnostics.report("not-for-calls", keyPlace(health.origin), params);
  }
  if (address !== undefined) return { address, policies: found.policies, origin: found.origin };
  diagnostics.report("needs-host-backend", origin, { policy: user });
  return undefined;
}
