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
import { type Inventory, resourceName } from "./inventory.ts";

/** What looking up references needs. */
export interface ReferenceContext {
  readonly inventory: Inventory;
  readonly diagnostics: Diagnostics;
  /** Whether Secrets and ConfigMaps of other namespaces reach a gateway: a controller sends them, and no pod mounts them. */
  readonly isDelivered: boolean;
}

/** A reference as it stands in a resource. */
export interface Reference<Kind extends ManifestKind> {
  readonly to: ObjectReference;
  readonly from: Manifest;
  /** Where it stands. */
  readonly origin: Origin;
  /** The kinds that may stand here; group and kind default to the first one's. */
  readonly kinds: readonly Kind[];
}

/** The resource that a reference leads to; undefined when there is none or it is not permitted (reported). */
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
    const params = { found, allowed, ...(meant && { instead: `say ${kindFields(meant)}` }) };
    diagnostics.report("wrong-reference-kind", origin, params);
    return undefined;
  }
  const namespace = to.namespace ?? from.namespace;
  // A union of kinds is a manifest, which the compiler can't see of a type parameter.
  const found = inventory.find(kind, namespace, to.name) as Manifest | undefined;
  if (found === undefined) {
    const others = kinds.filter((each) => each !== kind);
    reportMissing({ kind, namespace, name: to.name, origin, others }, context);
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

/** Reports a name that nothing has, with those that are meant perhaps. */
export function reportMissing(
  wanted: {
    readonly kind: ManifestKind;
    readonly namespace: string;
    readonly name: string;
    readonly origin: Origin;
    /** The other kinds that may stand there. */
    readonly others?: readonly ManifestKind[];
  },
  { inventory, diagnostics }: ReferenceContext,
): void {
  const { kind, namespace, name, origin, others = [] } = wanted;
  const what = `${kind} "${namespace === "" ? name : `${namespace}/${name}`}"`;
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
    ...(other && { instead: `there is ${other} "${namespace}/${name}": say ${kindFields(other)}` }),
  });
}

/** A kind as references name it. */
function kindFields(kind: ManifestKind): string {
  const group = groupOf(kind);
  return group === "" ? `kind: ${kind}` : `group: ${group}, kind: ${kind}`;
}

/** Whether a namespace allows a reference from another one: a ReferenceGrant there names both ends. */
export function isGranted(from: Manifest, to: Manifest, inventory: Inventory): boolean {
  return inventory.inNamespace("ReferenceGrant", to.namespace).some(
    ({ spec }) =>
      // A grant with mistakes (reported) may well be the one.
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

/** The API group of a kind, as references spell it. */
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
    case "GatewayPolicy":
    case "GatewayParameters":
      return OUR_GROUPS[0] ?? "";
    default:
      return GATEWAY_GROUP;
  }
}
