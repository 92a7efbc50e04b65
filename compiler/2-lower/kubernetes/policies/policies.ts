import { childOf, keyPlace, type Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import {
  type PolicyConfig,
  type PolicyKind,
  policies,
  policyConfig,
  policyOf,
  respondsToAll,
} from "../../../policies/index.ts";
import type { CaseConfig } from "../../../policies/parts/case-config.ts";
import {
  type ConditionalEntry,
  conditionalEntries,
} from "../../../policies/parts/conditional-field.ts";
import type { KubernetesContext, KubernetesForm } from "../../../policies/policy.ts";
import { validated } from "../../../schema/schema.ts";
import { ownConnection } from "../backends/own-connection.ts";
import { serverOf } from "../backends/servers.ts";
import { keyFolders, secretFiles } from "../inventory/secrets.ts";
import { actsThere, carriedBy, meetField } from "./applicable.ts";
import { effectivePolicy, partPolicy, type RulePath } from "./effective.ts";
import { isConnection } from "./fields.ts";
import { type EffectiveField, type FieldValue, isBackendLevel } from "./merge.ts";
import type { PolicyContext } from "./policy-context.ts";
import { recordEffect } from "./policy-effects.ts";

/** The policies of traffic. */
export interface RulePolicies {
  /** Policies in request order, in the vocabulary of standalone files. */
  readonly policies: readonly PolicyConfig[];
  /** Those of them that only the backend or policies attached to it configure. */
  readonly ofBackend: ReadonlySet<PolicyConfig>;
  /** Whether one of them responds without being the route's own, so that the backends are not called. */
  readonly hasResponse: boolean;
}

/** Returns the policies of traffic in the vocabulary of standalone files. */
export function routePolicies(traffic: RulePath, context: PolicyContext): RulePolicies {
  const { gateway } = traffic.listener;
  const effective = effectivePolicy(traffic, context.policyIndex);
  const carried = carriedBy(traffic);
  const fields = new Map(
    effective.filter((field) => actsThere(field, carried)).map((each) => [each.field, each]),
  );
  for (const field of fields.values()) {
    // Connection policies are recorded when the backends are read.
    if (!CLAIMED.has(field.field) && !isConnection(field.field))
      recordEffect(field, gateway, context);
  }
  const parts = partFields(traffic, context);
  const found = policies.flatMap(
    ({ kind }) => readPolicy(kind, fields, parts, gateway, context) ?? [],
  );
  const { acting, hasResponse, callsNothing } = reached(found);
  const left = callsNothing ? carriedBy({ ...traffic, backend: undefined }) : carried;
  const hasServers = !callsNothing && traffic.backend !== undefined;
  for (const field of effective) {
    // Connection policies are recorded per backend.
    if (!hasServers || !isConnection(field.field)) meetField(field, left, context.sections);
  }
  for (const { field } of acting) if (field !== undefined) recordEffect(field, gateway, context);
  return {
    policies: acting.map(({ config }) => config),
    ofBackend: new Set(acting.filter(isOfBackend).map(({ config }) => config)),
    hasResponse,
  };
}

/** Whether only the backend level configures a policy. */
function isOfBackend({ field }: ReadPolicy): boolean {
  return (field?.values ?? []).every(({ level }) => isBackendLevel(level));
}

/**
 * Reads a policy from the fields of traffic and of targets; returns `undefined` if it is absent or has a mistake
 * (reported).
 */
function readPolicy<Kind extends PolicyKind>(
  kind: Kind,
  fields: ReadonlyMap<string, EffectiveField>,
  parts: ReadonlyMap<string, readonly PartField[]>,
  gateway: Manifest,
  context: PolicyContext,
): ReadPolicy<Kind> | undefined {
  const form = policyOf(kind).kubernetes;
  if (form === undefined) return undefined;
  const field = fields.get(form.field);
  const own = readField(form, field, gateway, context);
  const config = withParts(form, own, parts, gateway, context);
  const value = (field ?? parts.get(form.field)?.[0]?.field)?.values.at(-1);
  const origin = value?.partOrigins?.[form.part ?? ""] ?? value?.origin;
  // The mistake has been reported; that the field has no effect need not be reported as well.
  if (config === undefined && field !== undefined) recordEffect(field, gateway, context);
  if (config === undefined || value === undefined || origin === undefined) return undefined;
  return { config: policyConfig(kind, config, origin), source: value.source, field };
}

/** A policy with its source. */
interface ReadPolicy<Kind extends PolicyKind = PolicyKind> {
  readonly config: PolicyConfig<Kind>;
  readonly source: Manifest;
  /** `undefined` if only targets of the backend have it. */
  readonly field: EffectiveField | undefined;
}

/**
 * Returns the policies that run if one of them responds to every request. Policies after it are dropped without a
 * report if they are also meant for other routes; those that the author of the response wrote are kept, so that
 * they are reported.
 */
function reached(found: readonly ReadPolicy[]): {
  readonly acting: readonly ReadPolicy[];
  readonly hasResponse: boolean;
  readonly callsNothing: boolean;
} {
  const end = found.findIndex(({ config }) => respondsToAll(config));
  const response = found[end];
  if (response === undefined) return { acting: found, hasResponse: false, callsNothing: false };
  const hasResponse = response.source.kind === "GatewayPolicy";
  const own = found
    .slice(end + 1)
    .filter(({ source }) => source === response.source && !hasResponse);
  // Without a call to the backend, there are no forwarded requests.
  const before = found
    .slice(0, end)
    .filter(({ config }) => policyOf(config.kind).traits.actsOn.includes("requests"));
  return { acting: [...before, response, ...own], hasResponse, callsNothing: true };
}

/** The fields that policies of a route read. */
const CLAIMED: ReadonlySet<string> = new Set(
  policies.flatMap(({ kubernetes }) => (kubernetes === undefined ? [] : [kubernetes.field])),
);

/** A field with another value for one target of the backend. */
interface PartField {
  /** Name of the target in the backend's configuration. */
  readonly target: string;
  /** Whether the backend has no other target. */
  readonly isOnly: boolean;
  readonly field: EffectiveField;
}

/** Returns the fields in which targets of an MCP backend differ, by field. */
function partFields(
  traffic: RulePath,
  context: PolicyContext,
): ReadonlyMap<string, readonly PartField[]> {
  const targets = [...(traffic.backend?.parts ?? [])];
  const isOnly = targets.length === 1;
  const found = targets.flatMap(([target, part]) =>
    partPolicy(traffic, part, context.policyIndex).map((field) => ({ target, isOnly, field })),
  );
  for (const { field } of found) {
    recordEffect(field, traffic.listener.gateway, context);
    meetField(field, carriedBy(traffic), context.sections);
  }
  return Map.groupBy(found, ({ field }) => field.field);
}

function withParts<Config, Value>(
  form: KubernetesForm<Config, Value>,
  config: Config | undefined,
  parts: ReadonlyMap<string, readonly PartField[]>,
  gateway: Manifest,
  context: PolicyContext,
): Config | undefined {
  const own = parts.get(form.field) ?? [];
  if (own.length === 0) return config;
  if (form.perTarget === undefined) {
    for (const { field, isOnly } of own) {
      if (isOnly) return readField(form, field, gateway, context);
      const [value] = field.values;
      if (value === undefined) continue;
      const what = `${form.field.replace(/^.*\./, "")} of one target`;
      const name = String(value.origin.path.at(-1));
      context.diagnostics.report("not-built-yet", keyPlace(value.origin), {
        what,
        field: `"${name}"`,
      });
    }
    return config;
  }
  const configs = own.flatMap(({ target, field }): readonly [string, Config][] => {
    const value = readField(form, field, gateway, context);
    return value === undefined ? [] : [[target, value]];
  });
  return form.perTarget(config, new Map(configs));
}

/** Returns the configuration from a field's values; `undefined` if it is absent or has a mistake (reported). */
export function readField<Config, Value>(
  form: KubernetesForm<Config, Value>,
  field: EffectiveField | undefined,
  gateway: Manifest,
  context: PolicyContext,
): Config | undefined {
  const lowered = (each: FieldValue, { value, origin }: OwnPart): Config | undefined => {
    const given = validated(form.schema, value);
    const own = kubernetesContext({ ...each, origin }, gateway, context);
    return guarded(origin, context.diagnostics, () => form.lower(given, own));
  };
  const readOne = (each: FieldValue): Config | undefined => {
    const entries = conditionalEntries(each.value, form.part, each.origin);
    if (entries !== undefined) {
      const cases = conditionalCases(form, entries, (entry) => lowered(each, entry));
      return cases && form.ofConditions?.(cases);
    }
    const part = partOfField(form, each);
    return part && lowered(each, part);
  };
  const configs = (field?.values ?? []).flatMap(
    (each) => guarded(each.origin, context.diagnostics, () => readOne(each)) ?? [],
  );
  if (configs.length === 0 || form.join === undefined) return configs.at(-1);
  return form.join(configs);
}

/**
 * Reads the cases of a conditional policy, up to the last entry that sets it. An entry whose condition is true
 * always ends the evaluation, even if it does not set this policy. Returns `undefined` if no entry sets it or one
 * has mistakes (reported).
 */
function conditionalCases<Config, Value>(
  form: KubernetesForm<Config, Value>,
  entries: readonly ConditionalEntry[],
  lower: (entry: ConditionalEntry) => Config | undefined,
): readonly CaseConfig<Config>[] | undefined {
  const last = entries.findLastIndex(({ value }) => value !== undefined);
  const forms = entries.slice(0, last + 1).map((entry) => ({
    entry,
    value: entry.value === undefined ? undefined : lower(entry),
  }));
  const known = forms.find(({ value }) => value !== undefined)?.value;
  if (known === undefined) return undefined;
  const cases = forms.flatMap(({ entry, value }): readonly CaseConfig<Config>[] => {
    const own = entry.value === undefined ? form.idle?.(known) : value;
    return own === undefined ? [] : [{ ...entry, value: own }];
  });
  return cases.length < forms.length ? undefined : cases;
}

/** Reads the policies on requests and responses of a single backend. */
export function policiesOfBackend(
  fields: readonly EffectiveField[],
  gateway: Manifest,
  context: PolicyContext,
): readonly PolicyConfig[] {
  return policies.flatMap(({ kind }) => policyOfBackend(kind, fields, gateway, context) ?? []);
}

function policyOfBackend<Kind extends PolicyKind>(
  kind: Kind,
  fields: readonly EffectiveField[],
  gateway: Manifest,
  context: PolicyContext,
): PolicyConfig<Kind> | undefined {
  const { kubernetes: form, onBackend } = policyOf(kind);
  const field = fields.find((each) => each.field === `backend.${onBackend?.field}`);
  const origin = field?.values.at(-1)?.origin;
  if (form === undefined || origin === undefined) return undefined;
  const config = readField(form, field, gateway, context);
  return config && policyConfig(kind, config, origin);
}

/** The part of a field's value that belongs to one policy. */
interface OwnPart {
  readonly value: unknown;
  readonly origin: Origin;
}

function partOfField(
  { part }: { readonly part?: string },
  { value, origin, partOrigins }: FieldValue,
): OwnPart | undefined {
  if (part === undefined) return { value, origin };
  const own = typeof value === "object" && value !== null ? Reflect.get(value, part) : undefined;
  return own && { value: own, origin: partOrigins?.[part] ?? childOf(origin, part) };
}

function kubernetesContext(
  { source, level, origin }: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): KubernetesContext {
  return {
    origin,
    namespace: source.namespace,
    diagnostics: context.diagnostics,
    server: (reference, at) => serverOf({ reference, from: source, gateway, origin: at }, context),
    connection: (fields, at) =>
      ownConnection(fields, { level, source, origin: at }, gateway, context),
    secretFiles: (name, keys, content, at) =>
      secretFiles({ name, keys, content, from: source, gateway, origin: at }, context),
    keyFolders: (names, at) => keyFolders(names, { from: source, gateway, origin: at }, context),
    objectsWith: (kind, matchLabels) =>
      context.inventory.withLabels(kind, source.namespace, matchLabels),
  };
}
