import { childOf } from "../../../diagnostics/diagnostic.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";
import { fieldValues } from "../policies/fields.ts";
import type { FieldValue } from "../policies/merge.ts";

/** Policies of a model that are policies of LLM requests in a GatewayPolicy. */
const OF_REQUESTS: ReadonlySet<string> = new Set([
  ...["promptGuard", "transformations", "finalTransformations"],
]);

/** Returns the policies of a model as values of a GatewayPolicy's `backend`; headers and rules are not among these. */
export function modelValues(model: ManifestOf<"GatewayModel">): readonly FieldValue[] {
  const origin = childOf(model.origin, "spec", "policies");
  const at = { level: "partOwn", source: model, origin } as const;
  const { headers: _, authorization: __, ...fields } = model.spec?.policies ?? {};
  return fieldValues("backend", fields, at).map((value) => {
    const name = value.field.replace("backend.", "");
    return OF_REQUESTS.has(name) ? { ...value, field: `backend.ai.${name}` } : value;
  });
}
