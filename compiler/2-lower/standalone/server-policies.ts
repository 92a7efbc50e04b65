import { canonicalPolicies } from "../../1-parse/standalone/policy-aliases.ts";
import type { ServerPoliciesValue } from "../../backends/backend.ts";
import { type BackendConfig, type BackendKind, backendOf } from "../../backends/index.ts";
import type { Diagnostics } from "../../diagnostics/diagnostic.ts";
import {
  policies as kinds,
  type PolicyConfig,
  type PolicyConfigs,
  type PolicyKind,
  policyConfig,
  policyOf,
  policyOfKind,
} from "../../policies/index.ts";
import { readPolicy } from "./route-parts.ts";

/**
 * Adds the policies of single servers to those of their route: for a server with a policy of its own, it applies instead of
 * the route's.
 */
export function withServerPolicies(
  policies: readonly PolicyConfig[],
  backends: readonly BackendConfig[],
  diagnostics: Diagnostics,
): readonly PolicyConfig[] {
  const servers = backends.flatMap(serverPolicies);
  if (servers.length === 0) return policies;
  return kinds.flatMap(({ kind }) => joined(kind, policies, servers, diagnostics) ?? []);
}

function serverPolicies<Kind extends BackendKind>({
  kind,
  config,
}: BackendConfig<Kind>): readonly ServerPoliciesValue[] {
  return backendOf<Kind>(kind).serverPolicies?.(config) ?? [];
}

function joined<Kind extends PolicyKind>(
  kind: Kind,
  policies: readonly PolicyConfig[],
  servers: readonly ServerPoliciesValue[],
  diagnostics: Diagnostics,
): PolicyConfig<Kind> | undefined {
  const ofRoute = policyOfKind(policies, kind);
  const { kubernetes } = policyOf(kind);
  if (kubernetes?.perTarget === undefined) return ofRoute;
  const found = servers.flatMap(({ name, value, origin }) =>
    canonicalPolicies(value, origin, diagnostics)
      .filter((each) => each.kind === kind)
      .map((each) => ({ name, own: readPolicy(kind, each.value, each.origin) })),
  );
  const configs = new Map<string, PolicyConfigs[Kind]>();
  for (const { name, own } of found) {
    const first = configs.get(name);
    if (first === undefined) configs.set(name, own.config);
    else if (!isSame(first, own.config)) {
      const params = { field: String(own.origin.path.at(-1)), name };
      diagnostics.report("backends-differ", { ...own.origin, part: "key" }, params);
    }
  }
  const [first] = found;
  if (first === undefined) return ofRoute;
  const config = kubernetes.perTarget(ofRoute?.config, configs);
  return policyConfig(kind, config, ofRoute?.origin ?? first.own.origin);
}

/** Whether two configurations differ only in their places. */
function isSame(one: unknown, other: unknown): boolean {
  const plain = (value: unknown) =>
    JSON.stringify(value, (key, each: unknown) => (key === "origin" ? undefined : each));
  return plain(one) === plain(other);
}
