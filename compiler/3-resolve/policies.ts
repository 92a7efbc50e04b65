import type { BackendConfig, PolicyConfig } from "../config/resources.ts";
import { keyOf } from "../diagnostics/diagnostic.ts";
import type { PolicyKind, PolicySettings, PolicyUse } from "../ir/program.ts";
import { policyOf } from "../policies/index.ts";
import type { Policy, PolicyConfigs, ResolveContext } from "../policies/policy.ts";
import type { ListenerContext } from "./listeners.ts";

/** Where policies stand. */
export type PolicyPlace = Pick<ResolveContext, "phase" | "route">;

/** The policies up to the one that answers every request, and that one; what stands behind it is reported. */
export function reachedPolicies(
  policies: readonly PolicyConfig[],
  backends: readonly BackendConfig[],
  { diagnostics }: ListenerContext,
): { readonly policies: readonly PolicyConfig[]; readonly answer: PolicyConfig | undefined } {
  const end = policies.findIndex(answersAll);
  const answer = policies[end];
  if (answer === undefined) return { policies, answer };
  for (const { kind, origin } of policies.slice(end + 1)) {
    diagnostics.report("never-reached", keyOf(origin), { what: `"${kind}"`, by: answer.kind });
  }
  for (const { origin } of backends) {
    diagnostics.report("never-reached", keyOf(origin), { what: "this backend", by: answer.kind });
  }
  return { policies: policies.slice(0, end + 1), answer };
}

/** Whether a policy answers every request that reaches it. */
export function answersAll({ kind, config }: PolicyConfig): boolean {
  // The policy of a kind is asked about a configuration of that kind.
  const { answers } = policyOf(kind) as Policy<PolicyKind>;
  return answers?.(config) === true;
}

/** The policies with complete settings, in their order; those with mistakes (reported) are left out. */
export function resolvePolicies(
  policies: readonly PolicyConfig[],
  place: PolicyPlace,
  context: ListenerContext,
): readonly PolicyUse[] {
  return policies.flatMap(({ kind, config, origin }) => {
    const { needs } = policyOf(kind);
    if (needs !== undefined && (needs === "mcp") !== place.route.isMcp) {
      const code = needs === "mcp" ? "needs-mcp-backend" : "needs-host-backend";
      context.diagnostics.report(code, keyOf(origin), { policy: kind });
      return [];
    }
    const settings = resolvePolicy(kind, config, { ...context, ...place, origin });
    return settings === undefined ? [] : [{ kind, settings, origin } as PolicyUse];
  });
}

function resolvePolicy<Kind extends PolicyKind>(
  kind: Kind,
  config: PolicyConfigs[PolicyKind],
  context: ResolveContext,
): PolicySettings[Kind] | undefined {
  // The configuration was read by the policy of the same kind.
  return policyOf(kind).resolve(config as PolicyConfigs[Kind], context);
}
