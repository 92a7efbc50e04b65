import {
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
} from "../../../diagnostics/diagnostic.ts";
import type { OverlaidResource } from "../../../ir/deployment.ts";
import type { ParametersValue } from "../../../manifests/manifests.ts";
import type { Json } from "../../../model/json.ts";

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
