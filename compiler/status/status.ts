import { resourceKind } from "../1-parse/kubernetes/kinds.ts";
import { CONTROLLERS, type KubernetesModel } from "../2-lower/kubernetes/gateway/gateways.ts";
import { groupOf } from "../2-lower/kubernetes/inventory/references.ts";
import { fieldValues } from "../2-lower/kubernetes/policies/fields.ts";
import type { Checked } from "../compile.ts";
import { childOf, Diagnostics, formatPath } from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import { valueAt } from "../diagnostics/source.ts";
import type { Manifest, ManifestKind, ManifestOf } from "../manifests/manifests.ts";
import { conditionFrom, type Problem, problemsByResource } from "./conditions.ts";
import { classStatus, gatewayStatus, problemsElsewhere } from "./gateways.ts";
import { withHistory } from "./history.ts";
import { type Ancestor, policyStatus } from "./policies.ts";
import { poolStatus } from "./pools.ts";
import { routeStatus } from "./routes.ts";
import { tlsPolicyStatus } from "./tls-policies.ts";

/** The status that a controller would write for a resource. */
export interface ResourceStatus {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly status: unknown;
}

/** What is said of a resource, without the times of its changes. */
export interface TimelessStatus {
  readonly manifest: Manifest;
  readonly status: object;
}

/** The conditions of everything that has a status, sorted by kind, namespace and name. */
export function statusOf(checked: Checked, kubernetes: KubernetesModel): readonly ResourceStatus[] {
  return timelessStatuses(checked, kubernetes)
    .toSorted((a, b) => (sortKey(a.manifest) < sortKey(b.manifest) ? -1 : 1))
    .map(({ manifest, status }) => resourceStatus(manifest, status, checked));
}

/** The same in the order of the manifests, for who keeps the times itself. */
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
    // A bug of gwc that shows in one object leaves all others their statuses.
    const status = guarded(manifest.origin, new Diagnostics(), read);
    return status === undefined ? [] : [{ manifest, status }];
  });
}

/**
 * A route or policy with mistakes, as far as it says where it belongs: its status is told there. What is no list of
 * references stays out.
 */
function withReferences(manifest: Manifest, { files }: Checked): Manifest {
  const spec = Object.fromEntries(
    ["parentRefs", "targetRefs"].flatMap((name): readonly [string, unknown][] => {
      const value = valueAt(childOf(manifest.origin, "spec", name), files);
      return Array.isArray(value) && value.every(isReference) ? [[name, value]] : [];
    }),
  );
  // Only the two lists of it are read for a status.
  return Object.keys(spec).length === 0 ? manifest : ({ ...manifest, spec } as Manifest);
}

function isReference(value: unknown): boolean {
  return typeof value === "object" && value !== null && "name" in value;
}

/** The status with the head of its resource, as `kubectl apply --server-side --subresource=status` takes it. */
function resourceStatus(
  { kind, namespace, name, origin }: Manifest,
  status: object,
  { files }: Checked,
): ResourceStatus {
  const at = (...path: readonly string[]): unknown => valueAt(childOf(origin, ...path), files);
  const generation = at("metadata", "generation");
  return {
    apiVersion: String(at("apiVersion")),
    // As it is spelled there.
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

/** What is wrong with the parameters that a class names; those that are not there are told where it names them. */
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

/** Whether a field of a policy acts on something that did not lose to another policy. */
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

/** The targets of a policy, those by name whether they exist or not. */
function ancestorsOf(
  { spec, namespace }: ManifestOf<"GatewayPolicy">,
  { inventory }: KubernetesModel,
): readonly Ancestor[] {
  const byName = (spec?.targetRefs ?? []).map(
    ({ group, kind, name, sectionName }): Ancestor => ({
      group,
      kind,
      namespace,
      name,
      ...(sectionName === undefined ? {} : { sectionName }),
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
