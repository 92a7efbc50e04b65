import { type BackendPolicies, mergeBackendPolicies } from "../backend-policies.ts";
import { below, type Diagnostics, type Origin } from "../diagnostics.ts";
import { policyOf } from "../policies/index.ts";
import type { BackendConfig, PolicyConfig } from "../resources.ts";
import { readBackendPolicies } from "./backend-policies.ts";
import { spelledPolicies } from "./policy-spellings.ts";
import type { ConfigValue } from "./values.ts";

/** The policies of a route in request order, each in its canonical form. */
export function readPolicies(
  given: Readonly<Record<string, ConfigValue>>,
  origin: Origin,
  diagnostics: Diagnostics,
): PolicyConfig[] {
  return spelledPolicies(given, origin, diagnostics).map(({ kind, value, origin: at }) => {
    // The policy of a kind reads the configuration of that kind.
    return { kind, config: policyOf(kind).read(value, at), origin: at } as PolicyConfig;
  });
}

/** A backend, with what its route says about how it is reached. */
export function readBackend(
  backend: Readonly<Record<string, ConfigValue>>,
  ofRoute: BackendPolicies | undefined,
  origin: Origin,
): BackendConfig {
  const own = readBackendPolicies(backend.policies, below(origin, "policies"));
  const kind = (["mcp", "dynamic"] as const).find((each) => Object.hasOwn(backend, each)) ?? "host";
  const weight = typeof backend.weight === "number" ? { weight: backend.weight } : {};
  return {
    kind,
    config: backend[kind] ?? null,
    policies: mergeBackendPolicies(ofRoute, own),
    ...weight,
    origin: below(origin, kind),
  };
}
