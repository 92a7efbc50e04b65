import type {
  DiscoveryResource,
  Generation,
  ResourceSet,
  ResourceUrl,
  resourceTypes,
} from "../../../runtime/discovery/resource-types.ts";
import { runtimeDigest } from "../../installation.ts";
import { endpointsName } from "../model/called-services.ts";
import type { CodeModule, GatewayCode } from "../model/compile-changes.ts";
import type { ValueKeys, ValueKind } from "../model/watched-objects.ts";
import type { EndpointResources } from "./endpoint-resources.ts";
import { resourceOf } from "./resource-of.ts";
import type { Signer } from "./signing-key.ts";
import type { ValueResources } from "./value-resources.ts";

/** Everything that the data planes of a Gateway are to have, by type. */
export type GatewayResourceSets = ReadonlyMap<ResourceUrl, ResourceSet>;

/** The code of a Gateway: it changes when something is compiled. */
export interface CodeResources {
  readonly sets: GatewayResourceSets;
  /** The version of the generation. */
  readonly version: string;
  /** The table of modules, before it was signed. */
  readonly generation: string;
}

/**
 * The modules of a compiled Gateway, the table that names them, and the credentials that they read. `before`: what the Gateway
 * had until now, for what is the same.
 */
export function codeResources(
  { key, build, modules, literals }: GatewayCode,
  types: typeof resourceTypes,
  signer: Signer,
  before: CodeResources | undefined,
): CodeResources {
  const known = before?.sets.get(types.module);
  const table: Generation = {
    gateway: key,
    ...build,
    runtime: runtimeDigest(),
    modules: modules.map(({ path, sha256 }) => ({ path, sha256 })),
  };
  const generation = JSON.stringify(table);
  const old = before?.generation === generation ? before.sets.get(types.generation) : undefined;
  const signed = old?.get(key) ?? resourceOf(JSON.stringify(signer.signed(generation)));
  return {
    ...{ version: signed.version, generation },
    sets: new Map<ResourceUrl, ResourceSet>([
      [types.module, new Map(modules.map((each) => [each.sha256, moduleOf(each, known)]))],
      [types.generation, new Map([[key, signed]])],
      [
        types.variable,
        new Map(literals.map(({ variable, value }) => [variable, resourceOf(value)])),
      ],
    ]),
  };
}

/** Data that the code of a Gateway reads at run time: it is not compiled. */
export function dataResources(
  { namespace, secrets, configMaps, services, isInMesh }: GatewayCode,
  values: ValueResources,
  pods: EndpointResources,
  types: typeof resourceTypes,
): GatewayResourceSets {
  const entries = (kind: ValueKind, names: readonly string[]): ResourceSet =>
    new Map(
      names.flatMap((name): readonly [string, DiscoveryResource][] => {
        const resource = values.of(kind, mountedKey(name, namespace));
        return resource === undefined ? [] : [[name, resource]];
      }),
    );
  const endpoints = services.flatMap((service): readonly [string, DiscoveryResource][] => {
    const resource = pods.of(service, isInMesh);
    return resource === undefined ? [] : [[endpointsName(service), resource]];
  });
  return new Map<ResourceUrl, ResourceSet>([
    [types.secret, entries("Secret", secrets)],
    [types.configMap, entries("ConfigMap", configMaps)],
    [types.endpoints, new Map(endpoints)],
  ]);
}

/** The Secrets and ConfigMaps that the code of Gateways reads. */
export function readBy(
  gateways: readonly Pick<GatewayCode, "namespace" | "secrets" | "configMaps">[],
): ValueKeys {
  const keysOf = (field: "secrets" | "configMaps") =>
    gateways.flatMap((each) => each[field].map((name) => mountedKey(name, each.namespace)));
  return { Secret: new Set(keysOf("secrets")), ConfigMap: new Set(keysOf("configMaps")) };
}

/** Returns the name of an object, with its namespace if that is not the Gateway's. */
function mountedKey(mounted: string, namespace: string): string {
  const [name, elsewhere = namespace] = mounted.split("@");
  return `${elsewhere}/${name}`;
}

/** A module is called by its digest, which is its version, too: it never changes. */
function moduleOf({ sha256, text }: CodeModule, known: ResourceSet | undefined): DiscoveryResource {
  if (text !== undefined) return { version: sha256, value: Buffer.from(text) };
  const found = known?.get(sha256);
  if (found === undefined) throw new Error(`there is no module ${sha256}`);
  return found;
}
