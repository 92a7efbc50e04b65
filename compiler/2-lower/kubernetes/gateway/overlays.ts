import { GATEWAY_CONTAINER } from "../../../../templates/kubernetes/names.ts";
import {
  isObject,
  type MergeObject,
  strategicMerge,
} from "../../../../templates/kubernetes/strategic-merge.ts";
import {
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
} from "../../../diagnostics/diagnostic.ts";
import type { OverlaidResource, Overlay } from "../../../ir/deployment.ts";
import type { ParametersValue } from "../../../manifests/manifests.ts";
import { type Json, jsonAt } from "../../../model/json.ts";
import { checkValue } from "./overlay-fields.ts";

/** Types of the specs of overlaid resources; `undefined` if the resource has no spec. */
const SPECS: Readonly<Record<OverlaidResource, string | undefined>> = {
  deployment: "DeploymentSpec",
  daemonSet: "DaemonSetSpec",
  service: "ServiceSpec",
  serviceAccount: undefined,
  podDisruptionBudget: "PodDisruptionBudgetSpec",
  horizontalPodAutoscaler: "HorizontalPodAutoscalerSpec",
};
const OVERLAID: readonly OverlaidResource[] = [
  ...(["deployment", "daemonSet", "service", "serviceAccount"] as const),
  ...(["podDisruptionBudget", "horizontalPodAutoscaler"] as const),
];

/** Fields that are copied to the gateway's container, with their types. */
const POD_PARTS = [
  ["resources", "ResourceRequirements"],
  ["env", "[EnvVar]"],
] as const;

/** Reports parts of overlays, and of fields that are copied to pods, that do not exist in these resources. */
export function checkOverlays(
  parameters: ParametersValue & { readonly origin: Origin },
  diagnostics: Diagnostics,
): void {
  for (const name of OVERLAID) {
    const spec = parameters[name]?.spec;
    const type = SPECS[name];
    const at = childOf(parameters.origin, "spec", name, "spec");
    if (spec === undefined) continue;
    if (type !== undefined) checkValue(spec, { type, field: '"spec"' }, at, diagnostics);
    else {
      const message =
        "a ServiceAccount has no spec: its overlay can only have labels and annotations";
      diagnostics.report("broken-rule", keyPlace(at), { message });
    }
  }
  for (const [name, type] of POD_PARTS) {
    const at = childOf(parameters.origin, "spec", name);
    checkValue(parameters[name], { type, field: `"${name}"` }, at, diagnostics);
  }
}

/**
 * Name of the gateway's container in the gateway that shares this configuration, which may read the same resource.
 */
const OTHER_NAME = "agentgateway";

/** Returns the field with the overlay of the resource that runs the pods. */
export function workloadField(parameters: readonly ParametersValue[]): "deployment" | "daemonSet" {
  const last = parameters.findLast(({ workload }) => workload?.kind !== undefined);
  return last?.workload?.kind === "DaemonSet" ? "daemonSet" : "deployment";
}

/** Returns the overlays of a resource. Those of a workload may use the other name of the gateway's container. */
export function overlaysOf(
  parameters: readonly ParametersValue[],
  name: OverlaidResource,
): readonly Overlay[] {
  const all = parameters.flatMap((each) => each[name] ?? []);
  if (!isWorkload(name)) return all;
  return all.map(({ spec, ...rest }) =>
    spec === undefined ? rest : { ...rest, spec: withOwnName(spec) },
  );
}

function withOwnName(spec: Json): Json {
  const containers = containersOf(spec);
  if (!containers.some((each) => jsonAt(each, "name") === OTHER_NAME)) return spec;
  const named = containers.map((each) =>
    isObject(each) && each.name === OTHER_NAME ? { ...each, name: GATEWAY_CONTAINER } : each,
  );
  const [whole, template, pod] = [[], ["template"], ["template", "spec"]].map((path) =>
    fieldsOf(jsonAt(spec, ...path)),
  );
  return { ...whole, template: { ...template, spec: { ...pod, containers: named } } };
}

/** Reports overlaid resources that Kubernetes would refuse, or whose pods could not serve. */
export function checkOverlaid(
  parameters: readonly (ParametersValue & { readonly origin: Origin })[],
  diagnostics: Diagnostics,
): void {
  for (const [name, problemsOf] of RULES) {
    if (reportUnused(name, parameters, diagnostics)) continue;
    const last = parameters.findLast((each) => each[name] !== undefined);
    if (last === undefined) continue;
    const [overlay, spec] = [
      childOf(last.origin, "spec", name),
      childOf(last.origin, "spec", name, "spec"),
    ];
    const at = keyPlace(last[name]?.spec === undefined ? overlay : spec);
    for (const message of problemsOf(mergedSpec(parameters, name)))
      diagnostics.report("broken-rule", at, { message });
  }
}

/** Reports overlays of resources that the workload excludes, and returns whether there are any. */
function reportUnused(
  name: OverlaidResource,
  parameters: readonly (ParametersValue & { readonly origin: Origin })[],
  diagnostics: Diagnostics,
): boolean {
  const used = workloadField(parameters);
  const isUnused =
    (isWorkload(name) && name !== used) ||
    (name === "horizontalPodAutoscaler" && used === "daemonSet");
  const last = isUnused ? parameters.findLast((each) => each[name] !== undefined) : undefined;
  if (last === undefined) return isUnused;
  const [resource, kind] =
    used === "daemonSet" ? [`"${name}"`, "DaemonSet"] : ['"daemonSet"', "Deployment"];
  const message = `${resource} has no effect if the kind of "workload" is ${kind}`;
  diagnostics.report("broken-rule", keyPlace(childOf(last.origin, "spec", name)), { message });
  return true;
}

function isWorkload(name: OverlaidResource): boolean {
  return name === "deployment" || name === "daemonSet";
}

/** Applies the overlays to the fixed part of a resource. */
export function mergedSpec(parameters: readonly ParametersValue[], name: OverlaidResource): Json {
  return overlaysOf(parameters, name).reduce<Json>(
    (merged, overlay) => strategicMerge(merged, overlay.spec ?? {}) ?? {},
    isWorkload(name) ? BARE : {},
  );
}

/** The part of a generated workload that overlays must not remove. */
const BARE: Json = {
  template: { spec: { containers: [{ name: GATEWAY_CONTAINER, image: "gateway" }] } },
};

const RULES: readonly (readonly [OverlaidResource, (spec: Json) => readonly string[]])[] = [
  ["deployment", workloadProblems],
  ["daemonSet", workloadProblems],
  ["service", serviceProblems],
  ["podDisruptionBudget", budgetProblems],
  ["horizontalPodAutoscaler", autoscalerProblems],
];

function serviceProblems(spec: Json): readonly string[] {
  return jsonAt(spec, "type") === "ExternalName"
    ? ["a Service of type ExternalName does not route to pods"]
    : [];
}

function budgetProblems(spec: Json): readonly string[] {
  const isBoth = isThere(spec, "minAvailable") && isThere(spec, "maxUnavailable");
  return isBoth ? ['a budget cannot have both "minAvailable" and "maxUnavailable"'] : [];
}

function autoscalerProblems(spec: Json): readonly string[] {
  const [least, most] = [jsonAt(spec, "minReplicas") ?? 1, jsonAt(spec, "maxReplicas")];
  if (typeof most !== "number") return ['an autoscaler requires "maxReplicas"'];
  return typeof least === "number" && least > most
    ? ['"minReplicas" cannot exceed "maxReplicas"']
    : [];
}

function isThere(spec: Json, field: string): boolean {
  return jsonAt(spec, field) !== undefined;
}

function workloadProblems(spec: Json): readonly string[] {
  const containers = containersOf(spec);
  const hasGateway = containers.some((each) => jsonAt(each, "name") === GATEWAY_CONTAINER);
  const replicas = jsonAt(spec, "replicas");
  const isCount = typeof replicas !== "number" || replicas >= 0;
  return [
    ...(hasGateway ? [] : [`the overlays remove the container "${GATEWAY_CONTAINER}"`]),
    ...containers.flatMap(containerProblem),
    ...(jsonAt(spec, "selector") === undefined
      ? []
      : ["an overlay cannot change the selector, which identifies the gateway's pods"]),
    ...(isCount ? [] : ['"replicas" cannot be negative']),
  ];
}

function containerProblem(container: Json): readonly string[] {
  const [name, image] = [jsonAt(container, "name"), jsonAt(container, "image")];
  if (typeof name !== "string") return ["every container of an overlay requires a name"];
  return typeof image === "string" ? [] : [`the container "${name}" has no image`];
}

/** Returns the containers of a workload's spec, or of an overlay of one. */
export function containersOf(spec: Json): readonly Json[] {
  const containers = jsonAt(spec, "template", "spec", "containers");
  return Array.isArray(containers) ? containers : [];
}

function fieldsOf(value: Json | undefined): MergeObject {
  return isObject(value) ? value : {};
}
