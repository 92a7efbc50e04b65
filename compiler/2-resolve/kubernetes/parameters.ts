import { keysIn } from "../../1-parse/config-values.ts";
import type { ProcessConfig } from "../../1-parse/process.ts";
import { processSchema } from "../../1-parse/schemas/standalone.ts";
import { validator } from "../../1-parse/validate.ts";
import type { ConfigValue } from "../../1-parse/values.ts";
import { below, type Origin } from "../../diagnostics.ts";
import type { Json, Overlay } from "../../ir.ts";
import type { ManifestOf } from "../../manifests.ts";
import { object } from "../../schema.ts";
import { follow, type ReferenceContext } from "./references.ts";

/** A GatewayParameters as its schema has let it through. */
export interface ParametersSpec {
  readonly origin: Origin;
  readonly logging?: { readonly level?: string; readonly format?: "json" | "text" };
  readonly rawConfig?: { readonly config?: ProcessConfig };
  readonly image?: Readonly<
    Partial<Record<"registry" | "repository" | "tag" | "digest" | "pullPolicy", string>>
  >;
  readonly env?: readonly Json[];
  readonly resources?: Json;
  readonly shutdown?: { readonly min: number; readonly max: number };
  readonly deployment?: Overlay;
  readonly service?: Overlay;
  readonly serviceAccount?: Overlay;
  readonly podDisruptionBudget?: Overlay;
  readonly horizontalPodAutoscaler?: Overlay;
}

/** The parameters of a Gateway's class, then its own: later ones win. */
export function parametersOf(
  gateway: ManifestOf<"Gateway">,
  context: ReferenceContext,
): readonly ParametersSpec[] {
  const { gatewayClassName = "", infrastructure } = gateway.spec ?? {};
  const ofClass = context.inventory.find("GatewayClass", "", gatewayClassName);
  const classReference = ofClass?.spec?.parametersRef;
  const found: ManifestOf<"GatewayParameters">[] = [];
  const add = (
    reference: { readonly name: string } | undefined,
    from: ManifestOf<"Gateway" | "GatewayClass">,
    origin: Origin,
  ): void => {
    if (reference === undefined) return;
    const to = reference;
    const manifest = follow({ to, from, origin, kinds: ["GatewayParameters"] }, context);
    if (manifest !== undefined) found.push(manifest);
  };
  if (ofClass !== undefined && classReference !== undefined) {
    const namespace = classReference.namespace ?? gateway.namespace;
    // A class belongs to no namespace, so it may name any.
    const from = { ...ofClass, namespace };
    add(classReference, from, below(ofClass.origin, "spec", "parametersRef"));
  }
  const origin = below(gateway.origin, "spec", "infrastructure", "parametersRef");
  add(infrastructure?.parametersRef, gateway, origin);
  return found.flatMap((manifest) => checked(manifest, context) ?? []);
}

/** The content, when the parts that only show here are good; mistakes are reported. */
function checked(
  { spec, origin }: ManifestOf<"GatewayParameters">,
  { diagnostics }: ReferenceContext,
): ParametersSpec | undefined {
  if (spec === undefined) return undefined;
  const { rawConfig } = spec;
  if (rawConfig !== undefined) {
    const read = { value: rawConfig as ConfigValue, late: [], expanded: [] };
    const schema = object({ config: processSchema });
    const validate = validator(schema, keysIn([read.value]), "rawConfig");
    if (!validate(read, below(origin, "spec", "rawConfig"), diagnostics)) return undefined;
  }
  // The schema has checked the shape.
  return { ...(spec as unknown as ParametersSpec), origin };
}
