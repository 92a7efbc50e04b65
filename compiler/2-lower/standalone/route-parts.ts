import { canonicalPolicies } from "../../1-parse/standalone/policy-aliases.ts";
import type { ConfigValue } from "../../1-parse/values.ts";
import { type BackendPolicies, mergeBackendPolicies } from "../../config/backend-policies.ts";
import { findBackend } from "../../config/named-backends.ts";
import type { BackendConfig } from "../../config/resources.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import { type PolicyConfig, type PolicyKind, policyOf } from "../../policies/index.ts";
import { readBackendPolicies } from "./backend-policies.ts";

/** The policies of a route in request order, each in its canonical form. */
export function readPolicies(
  given: Readonly<Record<string, ConfigValue>>,
  origin: Origin,
  diagnostics: Diagnostics,
): PolicyConfig[] {
  return canonicalPolicies(given, origin, diagnostics).map(({ kind, value, origin: at }) =>
    readPolicy(kind, value, at),
  );
}

function readPolicy<Kind extends PolicyKind>(
  kind: Kind,
  value: ConfigValue,
  origin: Origin,
): PolicyConfig<Kind> {
  return { kind, config: policyOf(kind).read(value, origin), origin };
}

/** A backend, with what its route says about how it is reached; undefined when there is none of its name (reported). */
export function readBackend(
  backend: Readonly<Record<string, ConfigValue>>,
  ofRoute: BackendPolicies | undefined,
  origin: Origin,
  { named, diagnostics }: BackendReading,
): BackendConfig | undefined {
  const own = readBackendPolicies(backend.policies, childOf(origin, "policies"));
  const weight = typeof backend.weight === "number" ? { weight: backend.weight } : {};
  const { backend: name } = backend;
  if (typeof name === "string") {
    const found = findBackend(name, childOf(origin, "backend"), named, diagnostics);
    if (found === undefined) return undefined;
    const inherited = mergeBackendPolicies(ofRoute, found.policies);
    return { ...found, policies: mergeBackendPolicies(inherited, own), ...weight };
  }
  const kind = (["mcp", "dynamic"] as const).find((each) => Object.hasOwn(backend, each)) ?? "host";
  return {
    kind,
    config: backend[kind] ?? null,
    policies: mergeBackendPolicies(ofRoute, own),
    ...weight,
    origin: childOf(origin, kind),
  };
}

/** What reading a backend needs. */
export interface BackendReading {
  /** The file's `backends`. */
  readonly named: ReadonlyMap<string, BackendConfig>;
  readonly diagnostics: Diagnostics;
}

/** The file's `backends`, by name. */
export function readNamedBackends(
  backends: readonly Readonly<Record<string, ConfigValue>>[],
  origin: Origin,
  diagnostics: Diagnostics,
): ReadonlyMap<string, BackendConfig> {
  const found = new Map<string, BackendConfig>();
  backends.forEach((each, index) => {
    const at = childOf(origin, index);
    const name = String(each.name);
    const first = found.get(name);
    if (first !== undefined) {
      const related = [{ at: first.origin, label: "the first one" }];
      diagnostics.report("duplicate-backend", childOf(at, "name"), { name }, related);
    }
    const backend = readBackend(each, undefined, at, { named: found, diagnostics });
    if (backend !== undefined) found.set(name, backend);
  });
  return found;
}
