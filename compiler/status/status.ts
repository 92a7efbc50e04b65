import { resourceKind } from "../1-parse/kubernetes/kinds.ts";
import { CONTROLLERS, type KubernetesModel } from "../2-lower/kubernetes/gateway/gateways.ts";
import { groupOf } from "../2-lower/kubernetes/inventory/references.ts";
import { fieldValues } from "../2-lower/kubernetes/policies/fields.ts";
import type { Checked } from "../compile.ts";
import { childOf, Diagnostics, formatPath } from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import { valueAt } from "../diagnostics/source.ts";
import type { Manifest, ManifestKind, ManifestOf } from "../manifests/manifests.ts";
import {
  CONTROLLER,
  type Condition,
  conditionFrom,
  type Problem,
  problemsByResource,
  within,
} from "./conditions.ts";
import { classStatus, gatewayStatus, problemsElsewhere } from "./gateways.ts";
import { withHistory } from "./history.ts";
import { type Ancestor, policyStatus } from "./policies.ts";
import { poolStatus } from "./pools.ts";
import { modelStatus, routeStatus } from "./routes.ts";

/** Status of a resource as the controller writes it. */
export interface ResourceStatus {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly status: unknown;
}

/** Status of a resource without times and generations. */
export interface TimelessStatus {
  readonly manifest: Manifest;
  readonly status: object;
}

/** Returns the statuses of all resources, sorted by kind, namespace and name. */
export function statusOf(checked: Checked, kubernetes: KubernetesModel): readonly ResourceStatus[] {
  return timelessStatuses(checked, kubernetes)
    .toSorted((a, b) => (sortKey(a.manifest) < sortKey(b.manifest) ? -1 : 1))
    .map(({ manifest, status }) => resourceStatus(manifest, status, checked));
}

/** Returns the statuses in the order of the manifests, for callers that track transition times themselves. */
export function timelessStatuses(
  checked: Checked,
  kubernetes: KubernetesModel,
): readonly TimelessStatus[] {
  const problemsOf = problemsByResource(checked);
  return kubernetes.manifests.flatMap((manifest): readonly TimelessStatus[] => {
    const read = () => {
      const whole = manifest.spec === undefined ? withReferences(manifest, checked) : manifest;
      return statusOfOne(whole, problemsOf, kubernetes);
    };
    // A bug in gwc that one object triggers must not affect the statuses of others.
    const status = guarded(manifest.origin, new Diagnostics(), read);
    return status === undefined ? [] : [{ manifest, status }];
  });
}

/**
 * Recovers the parents or targets of an invalid route or policy, for which its status is reported. Malformed lists are
 * ignored.
 */
function withReferences(manifest: Manifest, { files }: Checked): Manifest {
  const spec = Object.fromEntries(
    ["parentRefs", "targetRefs"].flatMap((name): readonly [string, unknown][] => {
      const value = valueAt(childOf(manifest.origin, "spec", name), files);
      return Array.isArray(value) && value.every(isReference) ? [[name, value]] : [];
    }),
  );
  // A status needs only these two lists of the spec.
  return Object.keys(spec).length === 0 ? manifest : ({ ...manifest, spec } as Manifest);
}

function isReference(value: unknown): boolean {
  return typeof value === "object" && value !== null && "name" in value;
}

/** Adds the head of the resource to a status, for `kubectl apply --server-side --subresource=status`. */
function resourceStatus(
  { kind, namespace, name, origin }: Manifest,
  status: object,
  { files }: Checked,
): ResourceStatus {
  const at = (...path: readonly string[]): unknown => valueAt(childOf(origin, ...path), files);
  const generation = at("metadata", "generation");
  return {
    apiVersion: String(at("apiVersion")),
    // Spelled as in the manifest.
    kind: String(at("kind") ?? kind),
    metadata: { name, ...(namespace === "" ? {} : { namespace }) },
    status: withHistory(
      status,
      at("status"),
      typeof generation === "number" ? generation : undefined,
    ),
  };
}

function sortKey({ kind, namespace, name }: Manifest): string {
  return `${String(ORDER.indexOf(kind)).padStart(2, "0")} ${namespace}/${name}`;
}

const ORDER: readonly ManifestKind[] = [
  ...(["GatewayClass", "Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TCPRoute"] as const),
  ...([
    "TLSRoute",
    "BackendTLSPolicy",
    "GatewayBackend",
    "GatewayModel",
    "GatewayPolicy",
    "InferencePool",
  ] as const),
];

function statusOfOne(
  manifest: Manifest,
  problemsOf: (manifest: Manifest) => readonly Problem[],
  kubernetes: KubernetesModel,
): object | undefined {
  const problems = problemsOf(manifest);
  switch (manifest.kind) {
    case "GatewayClass":
      return isOurs(manifest)
        ? classStatus([...problems, ...ofClassParameters(manifest, problemsOf, kubernetes)])
        : undefined;
    case "Gateway":
    case "ListenerSet":
      if (problems.some(({ code }) => code === "foreign-gateway")) return undefined;
      return gatewayStatus(manifest, problemsOf, kubernetes);
    case "HTTPRoute":
    case "GRPCRoute":
    case "TCPRoute":
    case "TLSRoute":
      return routeStatus(manifest, problems, kubernetes);
    case "GatewayModel":
      return modelStatus(manifest, problems, kubernetes);
    case "GatewayBackend": {
      const errors = problems.filter(({ isError }) => isError);
      return {
        conditions: [conditionFrom("Accepted", "Accepted", ["TranslationError", errors])],
      };
    }
    case "BackendTLSPolicy":
      return tlsPolicyStatus(manifest, problems, kubernetes);
    case "InferencePool":
      return poolStatus(manifest, problems, kubernetes);
    case "GatewayPolicy":
      return policyStatus(manifest, ancestorsOf(manifest, kubernetes), {
        problems,
        isActing: isActing(manifest, problems, kubernetes),
        isWaiting: (ancestor) => isWithoutRoutes(ancestor, kubernetes),
      });
    default:
      return undefined;
  }
}

/** Lists the problems of the parameters that a class references; a missing one is reported at the reference. */
function ofClassParameters(
  { spec }: ManifestOf<"GatewayClass">,
  problemsOf: (manifest: Manifest) => readonly Problem[],
  { inventory }: KubernetesModel,
): readonly Problem[] {
  const { name = "", namespace = "" } = spec?.parametersRef ?? {};
  const found = inventory.find("GatewayParameters", namespace, name);
  return found === undefined ? [] : problemsElsewhere(found, problemsOf);
}

function isOurs({ spec }: ManifestOf<"GatewayClass">): boolean {
  return CONTROLLERS.includes(spec?.controllerName ?? "");
}

/** Whether a field of a policy has an effect and did not lose to another policy. */
function isActing(
  policy: ManifestOf<"GatewayPolicy">,
  problems: readonly Problem[],
  { context }: KubernetesModel,
): boolean {
  const conflicts = problems.filter(({ code }) => code === "policy-conflict");
  const lost = new Set(conflicts.map(({ path }) => formatPath(path)));
  const depth = policy.origin.resource?.depth ?? 0;
  const values = (["frontend", "traffic", "backend"] as const).flatMap((section) => {
    const origin = childOf(policy.origin, "spec", section);
    const at = { level: "gateway", source: policy, origin } as const;
    return fieldValues(section, policy.spec?.[section], at);
  });
  return values.some(
    ({ origin }) =>
      !lost.has(formatPath(origin.path.slice(depth))) &&
      context.sections.useOf(origin) === "acting",
  );
}

/** Whether a target of a policy is a Gateway or ListenerSet without routes. */
function isWithoutRoutes(
  { group, kind, namespace, name }: Ancestor,
  { attachments }: KubernetesModel,
): boolean {
  const known = resourceKind(group, kind);
  if (known !== "Gateway" && known !== "ListenerSet") return false;
  return !attachments.some(({ listener }) =>
    [listener.gateway, listener.owner].some(
      (each) => each.kind === known && each.namespace === namespace && each.name === name,
    ),
  );
}

/** Lists the targets of a policy; those by name are included even if they do not exist. */
function ancestorsOf(
  { spec, namespace }: ManifestOf<"GatewayPolicy">,
  { inventory }: KubernetesModel,
): readonly Ancestor[] {
  const byName = (spec?.targetRefs ?? []).map(
    ({ group, kind, name, sectionName, port }): Ancestor => ({
      group,
      kind,
      namespace,
      name,
      ...(sectionName === undefined ? {} : { sectionName }),
      ...(port === undefined ? {} : { port }),
    }),
  );
  const byLabels = (spec?.targetSelectors ?? []).flatMap((selector): readonly Ancestor[] => {
    const kind = resourceKind(selector.group, selector.kind);
    if (kind === undefined) return [];
    return inventory
      .withLabels(kind, namespace, selector.matchLabels)
      .map(({ name }) => ({ group: groupOf(kind), kind, namespace, name }));
  });
  return [...byName, ...byLabels];
}

/** Returns the status of a BackendTLSPolicy for each Gateway whose traffic it affects; empty without one (GEP-713). */
function tlsPolicyStatus(
  policy: ManifestOf<"BackendTLSPolicy">,
  problems: readonly Problem[],
  { context }: KubernetesModel,
): object {
  const errors = problems.filter(({ isError }) => isError);
  const gateways = [...(context.effective.get(policy) ?? [])].map(gatewayAncestor);
  if (gateways.length === 0) return {};
  const authorities = within(errors, "spec", "validation", "caCertificateRefs");
  const conditions = [acceptedBy(errors, authorities, problems), resolvedOf(authorities)];
  return {
    ancestors: gateways.map((ancestorRef) => ({
      ancestorRef,
      controllerName: CONTROLLER,
      conditions,
    })),
  };
}

function gatewayAncestor({ namespace, name }: Manifest): Ancestor {
  return { group: groupOf("Gateway"), kind: "Gateway", namespace, name };
}

function acceptedBy(
  errors: readonly Problem[],
  authorities: readonly Problem[],
  problems: readonly Problem[],
): Condition {
  const idle = problems.find(({ code }) => code === "policy-without-effect");
  const accepted = conditionFrom(
    "Accepted",
    "Accepted",
    ["TargetNotFound", within(errors, "spec", "targetRefs")],
    ["NoValidCACertificate", authorities],
    ["Invalid", errors],
    ["Conflicted", problems.filter(({ code }) => code === "policy-conflict")],
  );
  return accepted.status === "True" ? { ...accepted, message: idle?.message ?? "" } : accepted;
}

function resolvedOf(authorities: readonly Problem[]): Condition {
  const isOther = authorities.some(({ code }) => code === "wrong-reference-kind");
  const reason = isOther ? "InvalidKind" : "InvalidCACertificateRef";
  return conditionFrom("ResolvedRefs", "ResolvedRefs", [reason, authorities]);
}
