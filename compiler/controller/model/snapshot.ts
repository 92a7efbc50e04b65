import { resourceKind, splitApiVersion } from "../../1-parse/kubernetes/kinds.ts";
import { apiVersionOf, objectKey } from "../kubernetes/api-object.ts";
import { textField } from "../kubernetes/json-fields.ts";
import { isOurClass } from "./gateway-owner.ts";
import type { WatchedObjects } from "./watched-objects.ts";

/** Everything that is declared at one moment: objects by a path that says which they are. */
export type Snapshot = ReadonlyMap<string, SnapshotObject>;

/** An object of a snapshot. */
export interface SnapshotObject {
  /** Its manifest. */
  readonly text: string;
  /** Empty for objects of the cluster. */
  readonly namespace: string;
  /** `KIND NAMESPACE/NAME`. */
  readonly id: string;
  /** Generation that the manifest is of; `undefined` for kinds without generations. */
  readonly generation: number | undefined;
}

/** The declared objects of a moment. */
export function snapshotOf(objects: WatchedObjects): Snapshot {
  const declared = objects.declared().map(({ path, text, object }) => {
    const { apiVersion, kind: name, metadata } = object;
    const { namespace = "", generation } = metadata;
    const kind = resourceKind(splitApiVersion(apiVersion).group, name) ?? name;
    const id = `${kind} ${objectKey(metadata)}`;
    return [path, { text, namespace, id, generation }] as const;
  });
  return new Map([...declared, ...foreignClasses(objects)]);
}

/** The manifests of a snapshot by their paths. */
export function snapshotFiles(snapshot: Snapshot): Readonly<Record<string, string>> {
  return Object.fromEntries([...snapshot].map(([path, { text }]) => [path, text]));
}

/** The generation of each object, by `KIND NAMESPACE/NAME`: what is said of it is about that one. */
export function snapshotGenerations(snapshot: Snapshot): ReadonlyMap<string, number> {
  const all = [...snapshot.values()].flatMap(({ id, generation }) =>
    generation === undefined ? [] : [[id, generation] as const],
  );
  return new Map(all);
}

/** Classes that are not ours, and those that Gateways name and nobody made: whatever is of them is left alone. */
function* foreignClasses(
  objects: WatchedObjects,
): Iterable<readonly [path: string, object: SnapshotObject]> {
  const known = new Set<string>();
  for (const found of objects.ofKind("GatewayClass")) {
    const { metadata, apiVersion } = found;
    known.add(metadata.name);
    if (isOurClass(found)) continue;
    yield [
      `/${apiVersion}/GatewayClass/${objectKey(metadata)}.json`,
      classOf(metadata.name, metadata.generation),
    ];
  }
  for (const { spec } of objects.ofKind("Gateway")) {
    const name = textField(spec, "gatewayClassName");
    if (name === undefined || known.has(name)) continue;
    yield [`/${CLASS_VERSION}/GatewayClass/${name}.json`, classOf(name, undefined)];
  }
}

const CLASS_VERSION = apiVersionOf({ group: "gateway.networking.k8s.io", version: "v1" });

function classOf(name: string, generation: number | undefined): SnapshotObject {
  const text = JSON.stringify({
    apiVersion: CLASS_VERSION,
    kind: "GatewayClass",
    metadata: { name },
    spec: { controllerName: "other.invalid/controller" },
  });
  return { text, namespace: "", id: `GatewayClass ${name}`, generation };
}
