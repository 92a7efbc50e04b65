import { resourceKind } from "../../../1-parse/kubernetes/kinds.ts";
import { backends, sectionNames } from "../../../backends/index.ts";
import { childOf, keyPlace, type Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type {
  Manifest,
  ManifestKind,
  ManifestOf,
  PolicySpec,
} from "../../../manifests/manifests.ts";
import type { PolicyFields } from "../../../manifests/policy.ts";
import { byAge, resourceName } from "../inventory/inventory.ts";
import { follow, type ReferenceContext } from "../inventory/references.ts";
import { fieldValues, type PolicySection } from "./fields.ts";
import type { FieldValue, Level } from "./merge.ts";

/** A target of a policy, or a section of it. */
interface Target {
  readonly manifest: Manifest;
  readonly section: string | undefined;
  /** Port of a Gateway. */
  readonly port?: number | undefined;
  readonly origin: Origin;
}

/** Kinds that a policy can target. */
const KINDS = [
  ...(["Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute"] as const),
  ...(["Service", "GatewayBackend", "InferencePool"] as const),
];

/** Kinds that a BackendTLSPolicy can target. */
const BACKEND_KINDS = ["Service", "GatewayBackend", "InferencePool"] as const;

/** Returns the key of a target in the policy index. */
export function targetKey({ kind, namespace, name }: Manifest, section?: string): string {
  return `${kind} ${namespace}/${name}${section === undefined ? "" : `#${section}`}`;
}

/** Returns the key of a Gateway's port, which has no name that a section could have. */
export function portKey(gateway: ManifestOf<"Gateway">, port: number): string {
  return targetKey(gateway, `port ${port}`);
}

/** Returns the key of the policies of a GatewayModel, which apply to no other model of its backend. */
export function modelKey(model: ManifestOf<"GatewayModel">): string {
  return targetKey(model, "policies");
}

/** Finds the targets of every policy; reports those that do not exist or cannot be targeted. */
export function targetPolicies(
  context: ReferenceContext,
): ReadonlyMap<string, readonly FieldValue[]> {
  const index = new Map<string, FieldValue[]>();
  const addAll = <Policy extends Manifest>(
    policy: Policy,
    read: (policy: Policy, context: ReferenceContext) => readonly TargetedValue[],
  ): void => {
    const at = childOf(policy.origin, "spec");
    const found = guarded(at, context.diagnostics, () => read(policy, context)) ?? [];
    for (const { key, value } of found) index.set(key, [...(index.get(key) ?? []), value]);
  };
  const { inventory } = context;
  for (const policy of inventory.all("GatewayPolicy").toSorted(byAge)) addAll(policy, ownValues);
  for (const policy of inventory.all("BackendTLSPolicy").toSorted(byAge)) addAll(policy, tlsValues);
  return index;
}

/** A policy's value for one target. */
interface TargetedValue {
  readonly key: string;
  readonly value: FieldValue;
}

/** Returns the values of a GatewayPolicy for each of its targets. */
function ownValues(
  policy: ManifestOf<"GatewayPolicy">,
  context: ReferenceContext,
): readonly TargetedValue[] {
  const { spec } = policy;
  if (spec === undefined) return [];
  const targets = new Map(
    targetsOf(policy, spec, context).map((target) => [keyOf(target), target]),
  );
  return [...targets].flatMap(([key, target]) =>
    valuesFor(policy, spec, target, context).map((value) => ({ key, value })),
  );
}

function keyOf({ manifest, section, port }: Target): string {
  return manifest.kind === "Gateway" && port !== undefined
    ? portKey(manifest, port)
    : targetKey(manifest, section);
}

/** Returns the values of a GatewayPolicy that has no existing target. */
export function untargetedValues(source: ManifestOf<"GatewayPolicy">): readonly FieldValue[] {
  const { spec, origin } = source;
  return SECTIONS.flatMap((section) => {
    const fields: PolicyFields | undefined = spec?.[section];
    const at = { level: "route", source, origin: childOf(origin, "spec", section) } as const;
    return fields === undefined ? [] : fieldValues(section, fields, at);
  });
}

const SECTIONS = ["frontend", "traffic", "backend"] as const;

/** Returns the values of a BackendTLSPolicy for its targets: `backend.tls` as a whole. */
function tlsValues(
  policy: ManifestOf<"BackendTLSPolicy">,
  context: ReferenceContext,
): readonly TargetedValue[] {
  const { spec } = policy;
  if (spec === undefined) return [];
  const targets = spec.targetRefs.flatMap((reference, index): readonly Target[] => {
    const origin = childOf(policy.origin, "spec", "targetRefs", index);
    const { group, kind, name, sectionName: section } = reference;
    const to = { group, kind, name };
    const manifest = follow({ to, from: policy, origin, kinds: BACKEND_KINDS }, context);
    return manifest === undefined ? [] : [{ manifest, section, origin }];
  });
  return targets
    .filter((target) => hasSection(target, context))
    .map(({ manifest, section }) => ({
      key: targetKey(manifest, section),
      value: {
        field: "backend.tls",
        value: spec.validation,
        level: levelOf(manifest.kind, section),
        source: policy,
        origin: childOf(policy.origin, "spec", "validation"),
      },
    }));
}

/** Returns the existing targets, by name or by labels. */
export function targetsOf(
  policy: ManifestOf<"GatewayPolicy">,
  { targetRefs = [], targetSelectors = [] }: PolicySpec,
  context: ReferenceContext,
): readonly Target[] {
  const byName = targetRefs.flatMap((reference, index): readonly Target[] => {
    const origin = childOf(policy.origin, "spec", "targetRefs", index);
    const { group, kind, name, sectionName, port } = reference;
    const to = { group, kind, name };
    const manifest = follow({ to, from: policy, origin, kinds: KINDS }, context);
    return manifest === undefined ? [] : [{ manifest, section: sectionName, port, origin }];
  });
  const byLabels = targetSelectors.flatMap((selector, index): readonly Target[] => {
    const origin = childOf(policy.origin, "spec", "targetSelectors", index);
    const kind = KINDS.find((each) => each === resourceKind(selector.group, selector.kind));
    if (kind === undefined) {
      const found = `${selector.group}/${selector.kind}`.replace(/^\//, "");
      context.diagnostics.report("wrong-reference-kind", origin, {
        found,
        allowed: KINDS.join(", "),
      });
      return [];
    }
    const { namespace } = policy;
    const found = context.inventory.withLabels(kind, namespace, selector.matchLabels);
    if (found.length === 0)
      context.diagnostics.report("selector-without-match", origin, {
        what: `${kind} of the namespace "${policy.namespace}"`,
      });
    const { sectionName: section, port } = selector;
    return found.map((manifest) => ({ manifest, section, port, origin }));
  });
  return [...byName, ...byLabels].filter((target) => hasSection(target, context));
}

function valuesFor(
  policy: ManifestOf<"GatewayPolicy">,
  spec: PolicySpec,
  target: Target,
  context: ReferenceContext,
): readonly FieldValue[] {
  const level =
    target.port === undefined ? levelOf(target.manifest.kind, target.section) : "gatewayPort";
  return SECTIONS.flatMap((section) => {
    const fields: PolicyFields | undefined = spec[section];
    if (fields === undefined || !mayTarget(section, target, context)) return [];
    if (!mayPhase(fields, section, target, level, context)) return [];
    const origin = childOf(policy.origin, "spec", section);
    const isFinal = policy.spec?.strategy?.inheritance === "Override";
    const at = { level, source: policy, origin, ...(isFinal && { isFinal }) };
    const values = fieldValues(section, fields, at);
    return target.port === undefined
      ? values
      : values.filter((value) => isOfPort(value, target, context));
  });
}

/** Returns the level of a target, from its kind and whether a section is targeted. */
function levelOf(kind: ManifestKind, section: string | undefined): Level {
  switch (kind) {
    case "Gateway":
      return section === undefined ? "gateway" : "listener";
    case "ListenerSet":
      return section === undefined ? "listenerSet" : "listener";
    case "Service":
    case "GatewayBackend":
    case "InferencePool":
      return section === undefined ? "backend" : "backendPart";
    default:
      return section === undefined ? "route" : "rule";
  }
}

const ALLOWED: Readonly<Record<PolicySection, string>> = {
  frontend: "a Gateway or a port of one, but not a listener",
  traffic: "a Gateway, a ListenerSet, a route, a listener or rule of one, or an InferencePool",
  backend:
    "a Gateway, a ListenerSet, a route, a Service, a GatewayBackend, a part of one, or an InferencePool",
};

function mayTarget(
  section: PolicySection,
  { manifest, section: part, port, origin }: Target,
  { diagnostics }: ReferenceContext,
): boolean {
  const isBackend = manifest.kind === "Service" || manifest.kind === "GatewayBackend";
  const isAllowed =
    (section === "frontend" || port === undefined) &&
    (section === "backend" ||
      (section === "traffic" && !isBackend) ||
      (manifest.kind === "Gateway" && part === undefined));
  if (isAllowed) return true;
  const place = port === undefined ? part && `"${part}"` : `port ${port}`;
  const target = `${place === undefined ? "" : `${place} of `}${resourceName(manifest)}`;
  diagnostics.report("wrong-target", origin, { section, target, allowed: ALLOWED[section] });
  return false;
}

/** Whether a field can apply to a single port; otherwise reports it. */
function isOfPort(
  { field, value, origin: at }: FieldValue,
  { manifest, port }: Target,
  { diagnostics }: ReferenceContext,
): boolean {
  const isWhole = OF_ALL_PORTS.has(field);
  const buffer = field === "frontend.http" && Object.hasOwn(Object(value), "maxBufferSize");
  if (!isWhole && !buffer) return true;
  diagnostics.report("wrong-target", buffer ? childOf(at, "maxBufferSize") : keyPlace(at), {
    section: buffer ? `${field}.maxBufferSize` : field,
    target: `port ${port} of ${resourceName(manifest)}`,
    allowed: isWhole
      ? "a whole Gateway: expressions tell its ports apart by destination.port"
      : "a whole Gateway",
  });
  return false;
}

/** Fields of `frontend` that are about the process. */
const OF_ALL_PORTS: ReadonlySet<string> = new Set([
  "frontend.accessLog",
  "frontend.tracing",
  "frontend.metrics",
]);

function mayPhase(
  fields: PolicyFields,
  section: PolicySection,
  { manifest, origin }: Target,
  level: Level,
  { diagnostics }: ReferenceContext,
): boolean {
  const isPreRouting = section === "traffic" && fields.phase === "PreRouting";
  if (!isPreRouting || ["gateway", "listenerSet", "listener"].includes(level)) return true;
  diagnostics.report("wrong-phase", origin, { target: resourceName(manifest) });
  return false;
}

/** Whether the targeted section exists, or may be one that was omitted because of mistakes. */
function hasSection(
  { manifest, section, port, origin }: Target,
  context: ReferenceContext,
): boolean {
  const { diagnostics } = context;
  if (port !== undefined) return hasPort(manifest, port, origin, context);
  if (section === undefined || manifest.spec === undefined) return true;
  const candidates = sectionsOf(manifest);
  if (manifest.isPartial || candidates.includes(section)) return true;
  diagnostics.report("missing-section", childOf(origin, "sectionName"), {
    what: resourceName(manifest),
    section,
    candidates,
  });
  return false;
}

/** Whether a target is a Gateway with the port, also by a ListenerSet or its raw configuration, which are not compared. */
function hasPort(
  manifest: Manifest,
  port: number,
  origin: Origin,
  { inventory, diagnostics }: ReferenceContext,
): boolean {
  if (manifest.kind !== "Gateway") {
    const target = resourceName(manifest);
    const allowed = "a Gateway";
    diagnostics.report("wrong-target", childOf(origin, "port"), {
      section: "port",
      target,
      allowed,
    });
    return false;
  }
  if (manifest.isPartial) return true;
  const { listeners = [], allowedListeners, infrastructure } = manifest.spec ?? {};
  const ports = listeners.flatMap((listener) => listener?.port ?? []);
  const isKnown = allowedListeners === undefined && infrastructure?.parametersRef === undefined;
  if (ports.includes(port) || !isKnown || inventory.all("ListenerSet").length > 0) return true;
  diagnostics.report("missing-section", childOf(origin, "port"), {
    what: resourceName(manifest),
    section: String(port),
    candidates: ports.map(String),
  });
  return false;
}

/** Returns the names of a target's sections. */
function sectionsOf(manifest: Manifest): readonly string[] {
  switch (manifest.kind) {
    case "Gateway":
    case "ListenerSet":
      return (manifest.spec?.listeners ?? []).flatMap((listener) => listener?.name ?? []);
    case "HTTPRoute":
    case "GRPCRoute":
    case "TCPRoute":
    case "TLSRoute":
      return (manifest.spec?.rules ?? []).flatMap((rule) => rule?.name ?? []);
    case "Service":
      return (manifest.spec?.ports ?? []).flatMap(({ name, port }) =>
        name == null ? [String(port)] : [name, String(port)],
      );
    case "GatewayBackend":
      return backends.flatMap(({ kind }) =>
        manifest.spec === undefined ? [] : sectionNames(kind, manifest.spec),
      );
    default:
      return [];
  }
}
