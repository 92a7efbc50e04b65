import type { BackendConfig, PolicyConfig } from "../config/resources.ts";
import { keyPlace } from "../diagnostics/diagnostic.ts";
import type { PolicyKind, PolicySettings, PolicyUse } from "../ir/program.ts";
import { policyOf } from "../policies/index.ts";
import type { Policy, PolicyConfigs, ResolveContext } from "../policies/policy.ts";
import type { ListenerContext } from "./listeners.ts";

/** Where policies stand. */
export type PolicyPlace = Pick<ResolveContext, "phase" | "route">;

/** The policies up to the one that answers every request, and that one; what stands behind it is reported. */
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

/** Whether a policy answers every request that reaches it. */
export function respondsToAll({ kind, config }: PolicyConfig): boolean {
  // The policy of a kind is asked about a configuration of that kind.
  const { responses } = policyOf(kind) as Policy<PolicyKind>;
  return responses?.(config) === true;
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
      context.diagnostics.report(code, keyPlace(origin), { policy: kind });
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
