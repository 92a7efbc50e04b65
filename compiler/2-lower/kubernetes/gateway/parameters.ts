import { parseRawConfig, type RawConfig } from "../../../1-parse/kubernetes/raw-config.ts";
import { reportIdle } from "../../../config/sections.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { ManifestOf, ParametersValue } from "../../../manifests/manifests.ts";
import { reportAdminAddress } from "../../standalone/process.ts";
import { lowerServed, type ServedParts } from "../../standalone/served.ts";
import type { Lookups } from "../inventory/inventory.ts";
import { follow, type ReferenceContext } from "../inventory/references.ts";
import { checkOverlays } from "./overlays.ts";

/** A GatewayParameters with its location. */
export interface ParametersSpec extends Omit<ParametersValue, "rawConfig"> {
  readonly origin: Origin;
  readonly rawConfig?: RawConfig | undefined;
  /** Resources of the raw configuration, used or not. */
  readonly served?: ServedParts | undefined;
}

/** GatewayParameters by their resource, without those with mistakes. */
export type DeclaredParameters = ReadonlyMap<ManifestOf<"GatewayParameters">, ParametersSpec>;

/** Reads all GatewayParameters, used or not, and reports mistakes. */
export function declaredParameters(context: ReferenceContext): DeclaredParameters {
  const read = context.inventory.all("GatewayParameters").flatMap((manifest) => {
    const at = childOf(manifest.origin, "spec");
    const spec = guarded(at, context.diagnostics, () => checked(manifest, context));
    return spec === undefined ? [] : [[manifest, spec] as const];
  });
  return new Map(read);
}

/** Returns the existing GatewayParameters that a Gateway's class and then the Gateway itself refer to. */
export function namedParameters(
  gateway: ManifestOf<"Gateway">,
  inventory: Lookups,
): readonly ManifestOf<"GatewayParameters">[] {
  return parametersReferences(gateway, inventory).flatMap(
    ({ namespace, name }) =>
      inventory.find("GatewayParameters", namespace ?? gateway.namespace, name) ?? [],
  );
}

/** Returns the references to parameters of a Gateway's class and of the Gateway itself. */
export function parametersReferences(
  { spec, namespace }: ManifestOf<"Gateway">,
  inventory: Lookups,
): readonly { readonly namespace?: string; readonly name: string }[] {
  const ofClass = inventory.find("GatewayClass", "", spec?.gatewayClassName ?? "")?.spec;
  const own = spec?.infrastructure?.parametersRef;
  return [
    ...(ofClass?.parametersRef ? [{ namespace, ...ofClass.parametersRef }] : []),
    ...(own ? [{ ...own, namespace }] : []),
  ];
}

/** Returns the parameters of a Gateway's class, then its own, which override them. */
export function parametersOf(
  gateway: ManifestOf<"Gateway">,
  declared: DeclaredParameters,
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
    // A class has no namespace, so it may refer to any.
    const from = { ...ofClass, namespace };
    add(classReference, from, childOf(ofClass.origin, "spec", "parametersRef"));
  }
  const origin = childOf(gateway.origin, "spec", "infrastructure", "parametersRef");
  add(infrastructure?.parametersRef, gateway, origin);
  return found.flatMap((manifest) => declared.get(manifest) ?? []);
}

/** Parses the raw configuration of the parameters and checks it; reports mistakes. */
function checked(
  manifest: ManifestOf<"GatewayParameters">,
  { inventory, diagnostics }: ReferenceContext,
): ParametersSpec | undefined {
  const { spec, origin } = manifest;
  if (spec === undefined) return undefined;
  const { rawConfig: given, ...rest } = spec;
  const at = childOf(origin, "spec", "rawConfig");
  // Only variables in `env` are known; values that are read at start may refer to others.
  const variable = (wanted: string) => spec.env?.findLast(({ name }) => name === wanted)?.value;
  const { value: rawConfig, broken } =
    given === undefined ? ABSENT : parseRawConfig(given, at, variable, diagnostics);
  // Policies of the raw configuration can target a Gateway by name only if a single one uses it.
  const users = (rawConfig?.policies === undefined ? [] : inventory.all("Gateway")).filter(
    (gateway) => namedParameters(gateway, inventory).includes(manifest),
  );
  const only = users.length === 1 ? users[0] : undefined;
  const served = rawConfig && lowerServed(rawConfig, { origin: at, broken }, diagnostics, only);
  reportAdminAddress(rawConfig?.config, at, diagnostics);
  for (const idle of served?.sections.idle() ?? []) reportIdle(idle, diagnostics);
  const parameters: ParametersSpec = { ...rest, rawConfig, served, origin };
  checkOverlays(parameters, diagnostics);
  return parameters;
}

const ABSENT = { value: undefined, broken: [] };
