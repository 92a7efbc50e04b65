import type { Resource, RouteBackend, UnservedResources } from "../../../config/resources.ts";
import { unservedBackends } from "../../../config/unserved.ts";
import { childOf, placeKey } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import {
  type PolicyConfig,
  type PolicyKind,
  policies,
  policyConfig,
  policyOf,
} from "../../../policies/index.ts";
import { backendPoliciesOf } from "../backends/backend-policies.ts";
import { unresolved } from "../backends/backends.ts";
import type { CachedReadings } from "../inventory/cached-readings.ts";
import { allOfBackend } from "./effective.ts";
import { isConnection, PRE_ROUTING } from "./fields.ts";
import type { EffectiveField, FieldValue } from "./merge.ts";
import { newContext } from "./new-context.ts";
import { policiesOfBackend, readField } from "./policies.ts";
import type { PolicyContext } from "./policy-context.ts";
import { untargetedValues } from "./policy-targets.ts";

/** Policies and placeholder servers from the values of policies that have no effect. */
export type CachedUnserved = CachedReadings<Omit<UnservedResources, "logLevels">>;

/**
 * Returns GatewayBackends that no route refers to and policy values that have no effect, to report their mistakes.
 */
export function unservedResources(
  resources: readonly Resource[],
  context: PolicyContext,
  cache: CachedUnserved,
): Omit<UnservedResources, "logLevels"> {
  const { diagnostics } = context;
  const ofBackends = [...context.backends.entries()].flatMap(
    ([manifest, { parts }]) =>
      guarded(childOf(manifest.origin, "spec"), diagnostics, () =>
        allOfBackend(manifest, parts, context.policyIndex),
      ) ?? [],
  );
  const indexed = [...context.policyIndex.values()].flat();
  const sources = new Set<unknown>(indexed.map(({ source }) => source));
  const untargeted = context.inventory.all("GatewayPolicy").flatMap((policy) => {
    if (sources.has(policy)) return [];
    return guarded(policy.origin, context.diagnostics, () => untargetedValues(policy)) ?? [];
  });
  const values = [...indexed, ...untargeted, ...ofBackends].filter(
    ({ origin }) => context.sections.useOf(origin) === undefined,
  );
  const once = [...new Map(values.map((value) => [placeKey(value.origin), value])).values()];
  const read = once.map((value) => {
    const name = placeKey(value.origin);
    // No pods mount their Secrets, and only they use these sections.
    const found = cache.of(value.source, name, context, (recorded) =>
      readUnserved(value, newContext(recorded)),
    );
    for (const each of found.diagnostics) diagnostics.add(each);
    return found.value;
  });
  const declared = [...context.backends.values()].map(({ config }) => config);
  return {
    policies: read.flatMap(({ policies }) => policies),
    backends: [
      ...unservedBackends(declared, resources),
      ...read.flatMap(({ backends }) => backends),
    ],
  };
}

function readUnserved(
  value: FieldValue,
  context: PolicyContext,
): Omit<UnservedResources, "logLevels"> {
  const of = <Found>(read: () => readonly Found[]) =>
    guarded(value.origin, context.diagnostics, read) ?? [];
  return {
    policies: of(() => policiesOf(value, context)),
    backends: of(() => (isConnection(value.field) ? connectedBackend(value, context) : [])),
  };
}

/** Returns the policies from a field's value; several policies may share a field. */
function policiesOf(value: FieldValue, context: PolicyContext): readonly PolicyConfig[] {
  return policies.flatMap(({ kind }) => policyOfField(kind, value, context) ?? []);
}

function policyOfField<Kind extends PolicyKind>(
  kind: Kind,
  value: FieldValue,
  context: PolicyContext,
): PolicyConfig<Kind> | undefined {
  const { kubernetes: form } = policyOf(kind);
  if (form?.field !== value.field.replace(PRE_ROUTING, "traffic.")) return undefined;
  const config = readField(form, alone(value), value.source, context);
  return config && policyConfig(kind, config, value.origin);
}

/** Returns a placeholder server with the connection policies of a value. */
function connectedBackend(value: FieldValue, context: PolicyContext): readonly RouteBackend[] {
  const { origin, source } = value;
  const destination = { port: undefined, serverName: undefined, origin };
  const policies = backendPoliciesOf([alone(value)], destination, source, context);
  const ownPolicies = policiesOfBackend([alone(value)], source, context);
  if (policies === undefined && ownPolicies.length === 0) return [];
  return [{ ...unresolved(origin), ...(policies && { policies }), ownPolicies }];
}

function alone(value: FieldValue): EffectiveField {
  return { field: value.field, values: [value], overridden: [], conflicts: [] };
}
