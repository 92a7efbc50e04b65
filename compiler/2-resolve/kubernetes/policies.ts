import type { ConfigValue } from "../../1-parse/values.ts";
import { keyOf, type Origin } from "../../diagnostics.ts";
import type { BackendReference, Manifest } from "../../manifests.ts";
import { policies } from "../../policies/index.ts";
import type { ClusterContext, ClusterForm } from "../../policies/policy.ts";
import type { PolicyConfig } from "../../resources.ts";
import { effectivePolicy, partPolicy, type Traffic } from "./effective.ts";
import { noteField } from "./effects.ts";
import type { EffectiveField, FieldValue } from "./merge.ts";
import type { PolicyIndex } from "./policy-targets.ts";
import type { ReferenceContext } from "./references.ts";
import { secretFiles } from "./secrets.ts";
import { selects } from "./selectors.ts";
import { serverOf } from "./servers.ts";

/** What reading policies needs, and what it finds out about them. */
export interface PolicyContext extends ReferenceContext {
  readonly policyIndex: PolicyIndex;
  /** The resources one of whose values counts somewhere. */
  readonly effective: Set<string>;
  /** The Secrets that each Gateway's pods mount, by the Gateway's `NAMESPACE/NAME`. */
  readonly secrets: Map<string, Set<string>>;
  /** The ConfigMaps that they mount. */
  readonly configMaps: Map<string, Set<string>>;
  /** Conflicts that have been reported: one message for each pair of values. */
  readonly conflicts: Set<string>;
}

/** The policies of traffic in request order, as the standalone file would have them on the route. */
export function routePolicies(traffic: Traffic, context: PolicyContext): readonly PolicyConfig[] {
  const isMcp = traffic.backend?.config.kind === "mcp";
  const fields = new Map(
    effectivePolicy(traffic, context.policyIndex)
      // Rules about MCP say nothing about traffic that is none.
      .filter(({ field }) => isMcp || !field.startsWith("backend.mcp."))
      .map((each) => [each.field, each]),
  );
  for (const field of fields.values()) noteField(field, context);
  const parts = isMcp ? partFields(traffic, context) : new Map<string, never>();
  const { gateway } = traffic.listener;
  return policies.flatMap(({ kind, cluster }) => {
    if (cluster === undefined) return [];
    // A policy's own cluster form reads and joins what it has read itself.
    const form = cluster as ClusterForm<unknown>;
    const config = withParts(
      form,
      readField(form, fields.get(form.field), gateway, context),
      parts,
      gateway,
      context,
    );
    const held = fields.get(form.field) ?? parts.get(form.field)?.[0]?.field;
    const value = held?.values.at(-1);
    const origin = value?.partOrigins?.[form.part ?? ""] ?? value?.origin;
    return config === undefined || origin === undefined
      ? []
      : [{ kind, config, origin } as PolicyConfig];
  });
}

/** A field that differs for one target of the backend. */
interface PartField {
  /** The target as the configuration of the backend calls it. */
  readonly target: string;
  readonly field: EffectiveField;
}

/** What the targets of an MCP backend have of their own, by field. */
function partFields(
  traffic: Traffic,
  context: PolicyContext,
): ReadonlyMap<string, readonly PartField[]> {
  const found = [...(traffic.backend?.parts ?? [])].flatMap(([target, part]) =>
    partPolicy(traffic, part, context.policyIndex).map((field) => ({ target, field })),
  );
  for (const { field } of found) noteField(field, context);
  return Map.groupBy(found, ({ field }) => field.field);
}

function withParts(
  form: ClusterForm<unknown>,
  config: unknown,
  parts: ReadonlyMap<string, readonly PartField[]>,
  gateway: Manifest,
  context: PolicyContext,
): unknown {
  const own = parts.get(form.field) ?? [];
  if (own.length === 0) return config;
  if (form.perTarget === undefined) {
    for (const { field } of own) {
      const [value] = field.values;
      if (value === undefined) continue;
      const what = `${form.field.replace(/^.*\./, "")} of one target`;
      const name = String(value.origin.path.at(-1));
      context.diagnostics.report("not-built-yet", keyOf(value.origin), {
        what,
        field: `"${name}"`,
      });
    }
    return config;
  }
  const configs = own.flatMap(({ target, field }): readonly [string, unknown][] => {
    const value = readField(form, field, gateway, context);
    return value === undefined ? [] : [[target, value]];
  });
  return form.perTarget(config, new Map(configs));
}

/** The configuration that a field's values make; undefined when there is none, or a mistake (reported). */
export function readField(
  form: ClusterForm<unknown>,
  field: EffectiveField | undefined,
  gateway: Manifest,
  context: PolicyContext,
): unknown {
  const configs = (field?.values ?? []).flatMap((each) => {
    const config = form.read(each.value, clusterContext(each, gateway, context));
    return config === undefined ? [] : [config];
  });
  if (configs.length === 0 || form.join === undefined) return configs.at(-1);
  return form.join(configs);
}

function clusterContext(
  { source, origin }: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): ClusterContext {
  return {
    origin,
    diagnostics: context.diagnostics,
    server: (value: ConfigValue, at: Origin) => {
      // The schema has checked the shape.
      const reference = value as unknown as BackendReference;
      return serverOf({ reference, from: source, gateway, origin: at }, context);
    },
    secretFiles: (name, keys, at) =>
      secretFiles({ name, keys, from: source, gateway, origin: at }, context),
    secretsWith: (matchLabels) =>
      context.inventory
        .all("Secret")
        .filter(({ namespace }) => namespace === source.namespace)
        .filter(({ labels }) => selects({ matchLabels }, labels))
        .map(({ name }) => name),
  };
}
