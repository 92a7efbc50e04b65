import { resourceKind, splitApiVersion } from "../../1-parse/kubernetes/kinds.ts";
import { apiVersionOf, objectKey } from "../kubernetes/api-object.ts";
import { textField } from "../kubernetes/json-fields.ts";
import { isOurClass } from "./gateway-owner.ts";
import type { WatchedObjects } from "./watched-objects.ts";

/** Everything that is declared at one moment. */
export interface Snapshot {
  /** Manifests by a path that says which they are. */
  readonly files: Readonly<Record<string, string>>;
  /** The generation of each object, by `KIND NAMESPACE/NAME`: what is said of it is about that one. */
  readonly generations: ReadonlyMap<string, number>;
}

/** The declared objects of a moment. */
export function snapshotOf(objects: WatchedObjects): Snapshot {
  const declared = objects.declared();
  const generations = declared.flatMap(({ object: { apiVersion, kind: name, metadata } }) => {
    const { generation } = metadata;
    const kind = resourceKind(splitApiVersion(apiVersion).group, name);
    return generation === undefined
      ? []
      : [[`${kind} ${objectKey(metadata)}`, generation] as const];
  });
  const files = declared.map(({ path, text }) => [path, text] as const);
  return {
    files: { ...Object.fromEntries(files), ...foreignClasses(objects) },
    generations: new Map(generations),
  };
}

/** Classes that are not ours, and those that Gateways name and nobody made: whatever is of them is left alone. */
function foreignClasses(objects: WatchedObjects): Readonly<Record<string, string>> {
  const known = new Set<string>();
  const foreign: [string, string][] = [];
  for (const found of objects.ofKind("GatewayClass")) {
    const { metadata, apiVersion } = found;
    known.add(metadata.name);
    if (isOurClass(found)) continue;
    foreign.push([
      `/${apiVersion}/GatewayClass/${objectKey(metadata)}.json`,
      classOf(metadata.name),
    ]);
  }
  for (const { spec } of objects.ofKind("Gateway")) {
    const name = textField(spec, "gatewayClassName");
    if (name === undefined || known.has(name)) continue;
    foreign.push([`/${CLASS_VERSION}/GatewayClass/${name}.json`, classOf(name)]);
  }
  return Object.fromEntries(foreign);
}

const CLASS_VERSION = apiVersionOf({ group: "gateway.networking.k8s.io", version: "v1" });

function classOf(name: string): string {
  return JSON.stringify({
    apiVersion: CLASS_VERSION,
    kind: "GatewayClass",
    metadata: { name },
    spec: { controllerName: "other.invalid/controller" },
  });
}
