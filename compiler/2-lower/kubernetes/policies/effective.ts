import type { BackendSection } from "../../../backends/backend.ts";
import { childOf } from "../../../diagnostics/diagnostic.ts";
import type { Manifest, ManifestOf, ServicePort } from "../../../manifests/manifests.ts";
import type { RouteRule } from "../../../manifests/routes.ts";
import { policies } from "../../../policies/index.ts";
import type { KubernetesBackend } from "../backends/backends.ts";
import type { KubernetesListener } from "../gateway/listeners.ts";
import type { AnyRoute, DelegatingRule } from "../routes/attach.ts";
import { fieldValues, isConnection, isJoined, PRE_ROUTING } from "./fields.ts";
import { type EffectiveField, type FieldValue, merge } from "./merge.ts";
import type { PolicyIndex } from "./policy-context.ts";
import { modelKey, targetKey } from "./policy-targets.ts";

/** A rule of a route on one listener, with the backend of its traffic. */
export interface RulePath {
  readonly listener: KubernetesListener;
  readonly route: AnyRoute;
  readonly rule: RouteRule;
  readonly index: number;
  readonly backend: KubernetesBackend | undefined;
  /** Rule that delegates requests to it; absent if none. */
  readonly via?: DelegatingRule | undefined;
}

/** Returns the effective fields of traffic: each with its effective value and the values that this overrides. */
export function effectivePolicy(
  traffic: RulePath,
  policyIndex: PolicyIndex,
): readonly EffectiveField[] {
  const values = [...outerValues(traffic, policyIndex), ...backendValues(traffic, policyIndex)];
  return merge(values, isJoined);
}

/** Returns the effective fields of one target of an MCP backend that differ from those of the others. */
export function partPolicy(
  traffic: RulePath,
  part: BackendSection,
  policyIndex: PolicyIndex,
): readonly EffectiveField[] {
  const own = partValues(traffic, part, policyIndex);
  if (own.length === 0) return [];
  const named = new Set(own.map(({ field }) => field));
  const values = [
    ...outerValues(traffic, policyIndex),
    ...backendValues(traffic, policyIndex),
    ...own,
  ].filter(({ field }) => named.has(field));
  return merge(values, isJoined);
}

/** Returns the effective fields for requests of a listener before their route is chosen. */
export function listenerPolicy(
  listener: KubernetesListener,
  policyIndex: PolicyIndex,
): readonly EffectiveField[] {
  const values = listenerValues(listener, policyIndex);
  return merge(
    values.filter(({ field }) => field.startsWith(PRE_ROUTING)),
    isJoined,
  );
}

/** Returns the values from the Gateway down to the listener. */
function listenerValues(
  { gateway, owner, spec }: KubernetesListener,
  policyIndex: PolicyIndex,
): readonly FieldValue[] {
  const at = (manifest: Manifest, section?: string): readonly FieldValue[] =>
    policyIndex.get(targetKey(manifest, section)) ?? [];
  return [...at(gateway), ...(owner === gateway ? [] : at(owner)), ...at(owner, spec.name)];
}

/** Returns the effective connection policies of the traffic's backend, or of one target of it. */
export function connectionFields(
  traffic: RulePath,
  part: BackendSection | undefined,
  policyIndex: PolicyIndex,
): readonly EffectiveField[] {
  const values = [
    ...outerValues(traffic, policyIndex),
    ...backendValues(traffic, policyIndex),
    ...(part === undefined ? [] : partValues(traffic, part, policyIndex)),
  ].filter((value) => isConnection(value.field));
  return merge(values, isJoined);
}

/**
 * Returns the effective connection policies of a backend that is used without a route: those attached to it and
 * its own.
 */
export function backendOnly(
  manifest: ManifestOf<"Service"> | ManifestOf<"GatewayBackend">,
  port: ServicePort | undefined,
  policyIndex: PolicyIndex,
): readonly EffectiveField[] {
  const values = valuesOn(manifest, port, policyIndex).filter(({ field }) => isConnection(field));
  return merge(values, isJoined);
}

/** Returns the values from the Gateway down to the rule. */
function outerValues(traffic: RulePath, policyIndex: PolicyIndex): readonly FieldValue[] {
  const values = [
    ...listenerValues(traffic.listener, policyIndex),
    ...wayTo(traffic).flatMap((each, depth) => ruleValues(each, depth, policyIndex)),
  ];
  // Frontend fields act on connections, before there is a route.
  return values.filter(({ field }) => !field.startsWith("frontend."));
}

type RuleOfRoute = Pick<RulePath, "route" | "rule" | "index">;

/** Returns the rules that delegate to a rule, outermost first, and the rule itself. */
function wayTo({ route, rule, index, via }: RuleOfRoute & Pick<RulePath, "via">): RuleOfRoute[] {
  const before = via === undefined ? [] : wayTo({ ...via, via: via.from.via });
  return [...before, { route, rule, index }];
}

/** Returns the values of a rule and its route; `depth` is the number of rules that delegate to it. */
function ruleValues(
  { route, rule, index }: RuleOfRoute,
  depth: number,
  policyIndex: PolicyIndex,
): readonly FieldValue[] {
  const at = (section?: string): readonly FieldValue[] =>
    policyIndex.get(targetKey(route, section)) ?? [];
  const values = [
    ...at(),
    ...(rule.name === undefined ? [] : at(rule.name)),
    ...inlineValues(route, rule, index),
  ];
  return depth === 0 ? values : values.map((value) => ({ ...value, depth }));
}

/** Returns the values in the rule itself: filters and fields that policies also have. */
function inlineValues(route: AnyRoute, rule: RouteRule, index: number): readonly FieldValue[] {
  const place = childOf(route.origin, "spec", "rules", index);
  const made = { level: "inline", source: route } as const;
  const found = policies.flatMap(({ kubernetes }): readonly FieldValue[] => {
    if (kubernetes === undefined) return [];
    const { field, filter, ruleField, part } = kubernetes;
    const filters = (rule.filters ?? []).flatMap((each, position): readonly FieldValue[] => {
      const given = filter === undefined ? undefined : each[filter];
      if (given === undefined || filter === undefined) return [];
      const value = part === undefined ? given : { [part]: given };
      const origin = childOf(place, "filters", position, filter);
      const partOrigins = part === undefined ? {} : { partOrigins: { [part]: origin } };
      return [{ ...made, field, value, origin, ...partOrigins }];
    });
    const own = ruleField === undefined ? undefined : Reflect.get(rule, ruleField);
    if (own === undefined || ruleField === undefined) return filters;
    return [...filters, { ...made, field, value: own, origin: childOf(place, ruleField) }];
  });
  // Filters for parts of the same field are combined into one value.
  return [...Map.groupBy(found, ({ field }) => field).values()].flatMap((values) => {
    const [first, ...others] = values;
    if (first === undefined || others.length === 0 || isJoined(first.field)) return values;
    const value = Object.assign({}, ...values.map((each) => each.value));
    const partOrigins = Object.assign({}, ...values.map((each) => each.partOrigins));
    return [{ ...first, value, partOrigins }];
  });
}

/** Returns the values of policies attached to the backend, then those of the backend's own. */
function backendValues({ backend }: RulePath, policyIndex: PolicyIndex): readonly FieldValue[] {
  const manifest = backend?.manifest;
  return manifest === undefined ? [] : valuesOn(manifest, backend?.port, policyIndex);
}

function valuesOn(
  manifest: NonNullable<KubernetesBackend["manifest"]>,
  port: ServicePort | undefined,
  policyIndex: PolicyIndex,
): readonly FieldValue[] {
  const targeted = [
    ...(policyIndex.get(targetKey(manifest)) ?? []),
    ...portValues(manifest, port, policyIndex),
  ];
  if (manifest.kind !== "GatewayBackend") return targeted;
  const origin = childOf(manifest.origin, "spec", "policies");
  const at = { level: "backendOwn", source: manifest, origin } as const;
  return [...targeted, ...fieldValues("backend", manifest.spec?.policies, at)];
}

/** Returns all values for a backend and its parts, used or not. */
export function allOfBackend(
  manifest: ManifestOf<"GatewayBackend">,
  parts: ReadonlyMap<string, BackendSection>,
  policyIndex: PolicyIndex,
): readonly FieldValue[] {
  const ofParts = [...parts.values()].flatMap((part) => [
    ...(policyIndex.get(targetKey(manifest, part.name)) ?? []),
    ...ownOfPart(manifest, part),
  ]);
  return [...valuesOn(manifest, undefined, policyIndex), ...ofParts];
}

/** Returns the values in a target itself. */
function ownOfPart(manifest: Manifest, { own }: BackendSection): readonly FieldValue[] {
  if (own === undefined) return [];
  const { fields, origin } = own;
  return fieldValues("backend", fields, { level: "partOwn", source: manifest, origin });
}

/** Returns the values of policies attached to a port of a Service, by its name or number. */
function portValues(
  service: Manifest,
  port: ServicePort | undefined,
  policyIndex: PolicyIndex,
): readonly FieldValue[] {
  if (port === undefined) return [];
  const names = port.name == null ? [String(port.port)] : [port.name, String(port.port)];
  return names.flatMap((name) => policyIndex.get(targetKey(service, name)) ?? []);
}

/** Returns the values of policies attached to a target and to its Service, then those in the target itself. */
function partValues(
  { backend }: RulePath,
  part: BackendSection,
  policyIndex: PolicyIndex,
): readonly FieldValue[] {
  const manifest = backend?.manifest;
  if (manifest === undefined) return [];
  const { name, service: selected, manifest: own } = part;
  const ofService =
    selected === undefined
      ? []
      : [
          ...(policyIndex.get(targetKey(selected.service)) ?? []),
          ...portValues(selected.service, selected.port, policyIndex),
        ];
  const targeted = [
    ...(own === undefined ? (policyIndex.get(targetKey(manifest, name)) ?? []) : []),
    // The Service is more specific than the backend whose selector matches it.
    ...ofService.map((value): FieldValue => ({ ...value, level: "backendPart" })),
  ];
  const ofManifest = own === undefined ? [] : (policyIndex.get(modelKey(own)) ?? []);
  return [...targeted, ...ownOfPart(manifest, part), ...ofManifest];
}
