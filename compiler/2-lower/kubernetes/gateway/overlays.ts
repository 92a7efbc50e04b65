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

const OVERLAID: readonly OverlaidResource[] = [
  ...(["deployment", "service", "serviceAccount"] as const),
  ...(["podDisruptionBudget", "horizontalPodAutoscaler"] as const),
];

/** Reports directives of overlays that say nothing: they would stand in the resource as fields. */
export function checkOverlays(
  parameters: ParametersValue & { readonly origin: Origin },
  diagnostics: Diagnostics,
): void {
  for (const name of OVERLAID) {
    const spec = parameters[name]?.spec;
    if (spec !== undefined)
      check(spec, childOf(parameters.origin, "spec", name, "spec"), diagnostics);
  }
}

function check(value: Json, origin: Origin, diagnostics: Diagnostics): void {
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      check(item, childOf(origin, index), diagnostics);
    });
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    const at = childOf(origin, key);
    if (!key.startsWith("$")) check(each ?? null, at, diagnostics);
    else if (!isDirective(key, each)) {
      const text = key === "$patch" ? `$patch: ${JSON.stringify(each)}` : key;
      diagnostics.report("unknown-directive", keyPlace(at), { text });
    }
  }
}

/** Strategic merge patches of Kubernetes (apimachinery, strategicpatch). */
function isDirective(key: string, value: Json | undefined): boolean {
  if (key === "$patch") return value === "delete" || value === "replace" || value === "merge";
  return key === "$retainKeys" || /^\$(deleteFromPrimitiveList|setElementOrder)\/./.test(key);
}

/** What the gateway's container is called where the same resource is read by the gateway that the configuration shares. */
const OTHER_NAME = "agentgateway";

/** The overlays of one resource; those of a Deployment may call the gateway's container by its other name. */
export function overlaysOf(
  parameters: readonly ParametersValue[],
  name: OverlaidResource,
): readonly Overlay[] {
  const all = parameters.flatMap((each) => each[name] ?? []);
  if (name !== "deployment") return all;
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

/** Reports what a Deployment with its overlays could not run as: Kubernetes would refuse it, or no pod would serve. */
export function checkDeployment(
  parameters: readonly (ParametersValue & { readonly origin: Origin })[],
  diagnostics: Diagnostics,
): void {
  const last = parameters.findLast(({ deployment }) => deployment?.spec !== undefined);
  if (last === undefined) return;
  const at = keyPlace(childOf(last.origin, "spec", "deployment", "spec"));
  for (const message of problemsOf(mergedDeployment(parameters)))
    diagnostics.report("broken-rule", at, { message });
}

/** What overlays make of the part of a Deployment that is there whatever they say. */
export function mergedDeployment(parameters: readonly ParametersValue[]): Json {
  return overlaysOf(parameters, "deployment").reduce<Json>(
    (merged, overlay) => strategicMerge(merged, overlay.spec ?? {}) ?? {},
    BARE,
  );
}

/** The part of a generated Deployment that has to be there whatever overlays say. */
const BARE: Json = {
  template: { spec: { containers: [{ name: GATEWAY_CONTAINER, image: "gateway" }] } },
};

function problemsOf(spec: Json): readonly string[] {
  const containers = containersOf(spec);
  const hasGateway = containers.some((each) => jsonAt(each, "name") === GATEWAY_CONTAINER);
  const replicas = jsonAt(spec, "replicas");
  const isCount = replicas === undefined || (Number.isInteger(replicas) && Number(replicas) >= 0);
  return [
    ...(hasGateway ? [] : [`the overlays take away the container "${GATEWAY_CONTAINER}"`]),
    ...containers.flatMap(containerProblem),
    ...(jsonAt(spec, "selector") === undefined
      ? []
      : ["an overlay cannot change the selector: it says which pods are the gateway's"]),
    ...(isCount ? [] : ['"replicas" is a whole number']),
  ];
}

function containerProblem(container: Json): readonly string[] {
  const [name, image] = [jsonAt(container, "name"), jsonAt(container, "image")];
  if (typeof name !== "string") return ["every container of an overlay has a name"];
  return typeof image === "string" ? [] : [`the container "${name}" has no image`];
}

function containersOf(spec: Json): readonly Json[] {
  const containers = jsonAt(spec, "template", "spec", "containers");
  return Array.isArray(containers) ? containers : [];
}

function fieldsOf(value: Json | undefined): MergeObject {
  return isObject(value) ? value : {};
}
