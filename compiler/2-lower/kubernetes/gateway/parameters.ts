import { keysIn } from "../../../1-parse/config-values.ts";
import type { FrontendValue } from "../../../1-parse/standalone/frontend.ts";
import { frontendSchema } from "../../../1-parse/standalone/frontend.ts";
import type { ProcessValue } from "../../../1-parse/standalone/process.ts";
import { processSchema } from "../../../1-parse/standalone/process.ts";
import type { ConfigValue } from "../../../1-parse/values.ts";
import type { ManifestOf } from "../../../config/manifests.ts";
import { childOf, keyPlace, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { Json, Overlay } from "../../../ir/deployment.ts";
import { object } from "../../../schema/schema.ts";
import { validator } from "../../../schema/validate.ts";
import { follow, type ReferenceContext } from "../inventory/references.ts";
import { checkOverlays } from "./overlays.ts";

/** The parts of a standalone file that parameters may hold. */
export interface RawConfig {
  readonly config?: ProcessValue;
  readonly frontendPolicies?: FrontendValue;
}

/** A GatewayParameters as its schema has let it through. */
export interface ParametersSpec {
  readonly origin: Origin;
  readonly logging?: { readonly level?: string; readonly format?: "json" | "text" };
  readonly rawConfig?: RawConfig;
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
    add(classReference, from, childOf(ofClass.origin, "spec", "parametersRef"));
  }
  const origin = childOf(gateway.origin, "spec", "infrastructure", "parametersRef");
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
    const read = { value: rawConfig as ConfigValue, envTemplates: [], expanded: [] };
    const schema = object({ config: processSchema, frontendPolicies: frontendSchema() });
    const validate = validator(schema, keysIn([read.value]), "rawConfig");
    const place = childOf(origin, "spec", "rawConfig");
    if (validate.whole(read, place, diagnostics) === undefined) return undefined;
  }
  // The schema has checked the shape.
  const parameters = { ...(spec as unknown as ParametersSpec), origin };
  const mesh = ["mesh", "istio"].find((name) => Object.hasOwn(spec, name));
  if (mesh !== undefined) {
    const at = keyPlace(childOf(origin, "spec", mesh));
    diagnostics.report("not-built-yet", at, { what: "mutual TLS with a mesh", field: `"${mesh}"` });
  }
  checkOverlays(parameters, diagnostics);
  return parameters;
}
