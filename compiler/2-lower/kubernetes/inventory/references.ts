import {
  GATEWAY_GROUP,
  INFERENCE_GROUP,
  OUR_GROUPS,
  resourceKind,
} from "../../../1-parse/kubernetes/kinds.ts";
import type { Diagnostics, Origin } from "../../../diagnostics/diagnostic.ts";
import { suggest } from "../../../diagnostics/suggestion.ts";
import type {
  Manifest,
  ManifestKind,
  ManifestOf,
  ObjectReference,
} from "../../../manifests/manifests.ts";
import { type Lookups, resourceName } from "./inventory.ts";

/** Services needed to resolve references. */
export interface ReferenceContext {
  readonly inventory: Lookups;
  readonly diagnostics: Diagnostics;
  /**
   * Whether a controller delivers Secrets and ConfigMaps of any namespace to gateways; otherwise pods mount those
   * of their own.
   */
  readonly isDelivered: boolean;
}

/** A reference in a resource. */
export interface Reference<Kind extends ManifestKind> {
  readonly to: ObjectReference;
  readonly from: Manifest;
  /** Location of the reference. */
  readonly origin: Origin;
  /** Kinds that are allowed here; group and kind default to the first one's. */
  readonly kinds: readonly Kind[];
}

/**
 * Returns the resource of a reference; `undefined` if it does not exist or the reference is not permitted
 * (reported).
 */
export function follow<Kind extends ManifestKind>(
  { to, from, origin, kinds }: Reference<Kind>,
  context: ReferenceContext,
): ManifestOf<Kind> | undefined {
  const { inventory, diagnostics } = context;
  const [defaults] = kinds;
  if (defaults === undefined) return undefined;
  const group = to.group ?? groupOf(defaults);
  const kind = kinds.find((each) => each === resourceKind(group, to.kind ?? defaults));
  if (kind === undefined) {
    const found = [group, to.kind ?? defaults].filter((part) => part !== "").join("/");
    const meant = kinds.find((each) => each === to.kind);
    const allowed = kinds.join(", ");
    const instead = meant === undefined ? OTHER_KINDS[found] : `write ${kindFields(meant)}`;
    const params = { found, allowed, ...(instead !== undefined && { instead }) };
    diagnostics.report("wrong-reference-kind", origin, params);
    return undefined;
  }
  const namespace = to.namespace ?? from.namespace;
  // The compiler cannot infer from the type parameter that a union of kinds is a Manifest.
  const found = inventory.find(kind, namespace, to.name) as Manifest | undefined;
  if (found === undefined) {
    const others = kinds.filter((each) => each !== kind);
    const written = to.kind ?? kind;
    reportMissing({ kind, written, namespace, name: to.name, origin, others }, context);
    return undefined;
  }
  if (namespace !== from.namespace && !isGranted(from, found, inventory)) {
    diagnostics.report("reference-not-permitted", origin, {
      from: resourceName(from),
      fromGroup: groupOf(from.kind),
      fromNamespace: from.namespace,
      to: resourceName(found),
      toGroup: groupOf(kind),
      toKind: kind,
      toNamespace: namespace,
    });
    return undefined;
  }
  return found as ManifestOf<Kind>;
}

/** Reports a missing resource, with similar names as suggestions. */
export function reportMissing(
  wanted: {
    readonly kind: ManifestKind;
    /** Name of the kind in the reference, which may be that of the other group; that of the kind if absent. */
    readonly written?: string;
    readonly namespace: string;
    readonly name: string;
    readonly origin: Origin;
    /** Other kinds that are allowed in this place. */
    readonly others?: readonly ManifestKind[];
  },
  { inventory, diagnostics }: ReferenceContext,
): void {
  const { kind, written = kind, namespace, name, origin, others = [] } = wanted;
  const what = `${written} "${namespace === "" ? name : `${namespace}/${name}`}"`;
  const at = { ...origin, path: [...origin.path, "name"] };
  if (kind === "Secret") {
    diagnostics.report("missing-secret", at, { what });
    return;
  }
  const all = inventory.all(kind);
  const here = all.filter((each) => each.namespace === namespace).map((each) => each.name);
  const elsewhere = all.filter((each) => each.name === name).map(resourceName);
  const near = suggest(name, here);
  const other = others.find((each) =>
    inventory.inNamespace(each, namespace).some((one) => one.name === name),
  );
  const candidates =
    elsewhere.length > 0 ? elsewhere : here.map((each) => `"${namespace}/${each}"`);
  diagnostics.report("missing-reference", at, {
    what,
    candidates,
    ...(near === undefined ? {} : { near }),
    ...(kind === "Service" && { place: SERVICE_STUB }),
    ...(other && { instead: `for ${other} "${namespace}/${name}", write ${kindFields(other)}` }),
  });
}

const SERVICE_STUB =
  "add it to the input; a stub is enough: apiVersion: v1, kind: Service, its metadata, and spec with its ports";

/** Hints for kinds of other projects that gwc does not read. */
const OTHER_KINDS: Readonly<Record<string, string>> = {
  "networking.istio.io/Hostname":
    "gwc reads no ServiceEntry: write a GatewayBackend with `static: { host: ..., port: ... }`, which DNS resolves",
};

/** Returns a kind as written in references. */
function kindFields(kind: ManifestKind): string {
  const group = groupOf(kind);
  return group === "" ? `kind: ${kind}` : `group: ${group}, kind: ${kind}`;
}

/** Whether a ReferenceGrant in the target's namespace permits a reference from another namespace. */
export function isGranted(from: Manifest, to: Manifest, inventory: Lookups): boolean {
  return inventory.inNamespace("ReferenceGrant", to.namespace).some(
    ({ spec }) =>
      // A grant with mistakes (reported) could be the one that permits it.
      spec === undefined ||
      (spec.from.some(
        (each) =>
          each.namespace === from.namespace && resourceKind(each.group, each.kind) === from.kind,
      ) &&
        spec.to.some(
          (each) =>
            resourceKind(each.group, each.kind) === to.kind &&
            (each.name === undefined || each.name === "" || each.name === to.name),
        )),
  );
}

/** Returns the API group of a kind, as spelled in references. */
export function groupOf(kind: ManifestKind): string {
  switch (kind) {
    case "Service":
    case "Secret":
    case "ConfigMap":
    case "Namespace":
      return "";
    case "EndpointSlice":
      return "discovery.k8s.io";
    case "InferencePool":
      return INFERENCE_GROUP;
    case "GatewayBackend":
    case "GatewayModel":
    case "GatewayPolicy":
    case "GatewayParameters":
      return OUR_GROUPS[0] ?? "";
    default:
      return GATEWAY_GROUP;
  }
}
