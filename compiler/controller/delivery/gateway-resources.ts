import { createHash } from "node:crypto";
import type {
  DiscoveryResource,
  Generation,
  ResourceSet,
  ResourceUrl,
  resourceTypes,
} from "../../../runtime/discovery/resource-types.ts";
import { buildInfoOf } from "../../4-emit/build-info.ts";
import { recordOf } from "../kubernetes/json-fields.ts";
import type { CompiledGateway } from "../model/compile-files.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import { servicePods } from "./service-pods.ts";
import type { Signer } from "./signing-key.ts";

/** Everything that the data planes of a Gateway are to have, by type. */
export type GatewayResourceSets = ReadonlyMap<ResourceUrl, ResourceSet>;

/** What a Gateway's code consists of: it changes when something is compiled. */
export interface CodeResources {
  readonly sets: GatewayResourceSets;
  /** The version of the generation. */
  readonly version: string;
}

/** The modules of a compiled Gateway, the table that names them, and the credentials that they read. */
export function codeResources(
  { key, modules, literals }: CompiledGateway,
  types: typeof resourceTypes,
  signer: Signer,
): CodeResources {
  const own = modules.map(({ path, text }) => ({ path, text, sha256: digestOf(text) }));
  const generation: Generation = {
    gateway: key,
    ...buildInfoOf(modules),
    modules: own.map(({ path, sha256 }) => ({ path, sha256 })),
  };
  const table = resourceOf(JSON.stringify(signer.signed(JSON.stringify(generation))));
  return {
    version: table.version,
    sets: new Map<ResourceUrl, ResourceSet>([
      [types.module, new Map(own.map(({ sha256, text }) => [sha256, moduleOf(sha256, text)]))],
      [types.generation, new Map([[key, table]])],
      [
        types.variable,
        new Map(literals.map(({ variable, value }) => [variable, resourceOf(value)])),
      ],
    ]),
  };
}

/** What the code of a Gateway reads while it runs: nothing of it is compiled. */
export function dataResources(
  { namespace, secrets, configMaps, services }: CompiledGateway,
  objects: WatchedObjects,
  types: typeof resourceTypes,
): GatewayResourceSets {
  const entries = (kind: "Secret" | "ConfigMap", names: readonly string[]): ResourceSet =>
    new Map(
      names.flatMap((name): readonly [string, DiscoveryResource][] => {
        // What is of another namespace says so.
        const [own, elsewhere = namespace] = name.split("@");
        const found = objects.find(kind, `${elsewhere}/${own}`);
        if (found === undefined) return [];
        return [[name, resourceOf(entriesText(found.data, kind === "Secret"))]];
      }),
    );
  const endpoints = services.flatMap((service): readonly [string, DiscoveryResource][] => {
    const pods = servicePods(service, objects);
    if (pods === undefined) return [];
    return [
      [`${service.namespace}/${service.name}:${service.port}`, resourceOf(JSON.stringify(pods))],
    ];
  });
  return new Map<ResourceUrl, ResourceSet>([
    [types.secret, entries("Secret", secrets)],
    [types.configMap, entries("ConfigMap", configMaps)],
    [types.endpoints, new Map(endpoints)],
  ]);
}

/** The entries of an object, each in base64, as JSON. */
function entriesText(data: unknown, isEncoded: boolean): string {
  const entries = Object.entries(recordOf(data) ?? {}).map(([key, value]) => {
    const text = String(value);
    return [key, isEncoded ? text : Buffer.from(text).toString("base64")];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

/** A module is called by its digest, which is its version, too: it never changes. */
function moduleOf(sha256: string, text: string): DiscoveryResource {
  return { version: sha256, value: Buffer.from(text) };
}

function resourceOf(text: string): DiscoveryResource {
  return { version: digestOf(text).slice(0, 16), value: Buffer.from(text) };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
