import type { DiscoveryResource } from "../../../runtime/discovery/resource-types.ts";
import type { PodAddress } from "../../../runtime/net/service-endpoints.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import { endpointsName, type ServicePortName } from "../model/called-services.ts";
import { HBONE_ACCOUNT } from "../model/mesh-pods.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import { resourceOf } from "./resource-of.ts";

/** The pods of Services as data planes get them: what did not change is not written again. */
export class EndpointResources {
  readonly #objects: WatchedObjects;
  readonly #known: Map<string, KnownPods> = new Map();
  /** Names of those with pods whose mesh takes HBONE. */
  readonly #hbone: Set<string> = new Set();

  constructor(objects: WatchedObjects) {
    this.#objects = objects;
  }

  /**
   * Returns the endpoints of a Service's port, or of a port of a pool's pods; `undefined` if its pods are unknown and
   * its name is used instead. `isInMesh`: includes the mesh identities of pods.
   */
  of(port: ServicePortName, isInMesh: boolean): DiscoveryResource | undefined {
    const name = nameOf(port, isInMesh);
    const madeOf = [...this.#partsOf(port), ...(isInMesh ? this.#meshOf(port) : [])];
    const known = this.#known.get(name);
    const isSame =
      known?.madeOf.length === madeOf.length &&
      known.madeOf.every((each, index) => each === madeOf[index]);
    if (isSame) return known.resource;
    const accountOf = (pod: string) => (isInMesh ? this.#objects.mesh.accountOf(pod) : undefined);
    const pods = this.#podsOf(port, accountOf);
    const resource = pods && resourceOf(JSON.stringify(pods));
    if (pods?.some(([, , account]) => account === HBONE_ACCOUNT) === true) this.#hbone.add(name);
    else this.#hbone.delete(name);
    if (pods === undefined) this.#known.delete(name);
    else this.#known.set(name, { madeOf, resource });
    return resource;
  }

  /** Those of a Gateway's Services that have pods whose mesh takes HBONE: such pods are not called. */
  withHbone(ports: readonly ServicePortName[]): readonly string[] {
    const found = ports.filter((port) => this.#hbone.has(nameOf(port, true)));
    return [...new Set(found.map(({ namespace, name }) => `${namespace}/${name}`))];
  }

  /** Source of the mesh identities of pods. */
  #meshOf({ namespace }: ServicePortName): readonly unknown[] {
    return [this.#objects.mesh.version, this.#objects.find("Namespace", namespace)];
  }

  /** Inputs of a resource: the same inputs give the same resource. */
  #partsOf({ namespace, name, isPool }: ServicePortName): readonly unknown[] {
    const key = `${namespace}/${name}`;
    return isPool === true
      ? [this.#objects.pools.of(key)?.version, this.#objects.find("InferencePool", key)]
      : [this.#objects.find("Service", key), ...this.#objects.slicesOf(key)];
  }

  #podsOf(port: ServicePortName, accountOf: AccountOf): readonly PodAddress[] | undefined {
    const key = `${port.namespace}/${port.name}`;
    if (port.isPool === true) return poolPods(key, this.#objects, accountOf);
    const service = this.#objects.find("Service", key);
    return service && servicePods(port, service, [...this.#objects.slicesOf(key)], accountOf);
  }
}

function nameOf(port: ServicePortName, isInMesh: boolean): string {
  return `${endpointsName(port)}${isInMesh ? " in the mesh" : ""}`;
}

/** Resources made of the objects that list pods. */
interface KnownPods {
  readonly madeOf: readonly unknown[];
  readonly resource: DiscoveryResource | undefined;
}

/** The endpoints of a pool: each of its pods at each of its ports. */
function poolPods(
  key: string,
  objects: WatchedObjects,
  accountOf: AccountOf,
): readonly PodAddress[] | undefined {
  const pods = objects.pools.of(key)?.pods;
  const spec = recordOf(objects.find("InferencePool", key)?.spec);
  const ports = itemsField(spec, "targetPorts").map((each) => recordOf(each)?.number);
  const all = [...ports, spec?.targetPortNumber].filter((port) => typeof port === "number");
  return pods
    ?.flatMap(({ namespace, name, address }) => {
      const account = accountOf(`${namespace}/${name}`);
      return all.map((port): PodAddress => {
        return account === undefined ? [address, port] : [address, port, account];
      });
    })
    .toSorted();
}

/** Returns the mesh identity `NAMESPACE/ACCOUNT` of a pod (`NAMESPACE/NAME`); `undefined` if it is in no mesh. */
type AccountOf = (pod: string) => string | undefined;

/** Returns the ready pods of a Service's port; `undefined` if it has no EndpointSlices, and its name is used instead. */
function servicePods(
  { port }: ServicePortName,
  service: ApiObject,
  slices: readonly ApiObject[],
  accountOf: AccountOf,
): readonly PodAddress[] | undefined {
  if (slices.length === 0) return undefined;
  const portName = portNameOf(service, port);
  if (portName === undefined) return undefined;
  return slices.flatMap((slice) => readyPods(slice, portName, accountOf)).toSorted();
}

/** The name of a Service's port; a Service without an address of its own is called at the port of its pods. */
function portNameOf({ spec }: ApiObject, port: number): string | undefined {
  const isHeadless = textField(spec, "clusterIP") === "None";
  const found = itemsField(spec, "ports").find((each) => {
    const fields = recordOf(each);
    return fields?.port === port || (isHeadless && fields?.targetPort === port);
  });
  return found === undefined ? undefined : (textField(found, "name") ?? "");
}

function readyPods(
  slice: ApiObject,
  portName: string,
  accountOf: AccountOf,
): readonly PodAddress[] {
  const ports = itemsField(slice, "ports");
  const port = recordOf(ports.find((each) => (textField(each, "name") ?? "") === portName))?.port;
  if (typeof port !== "number") return [];
  return itemsField(slice, "endpoints").flatMap((endpoint): readonly PodAddress[] => {
    const isReady = recordOf(recordOf(endpoint)?.conditions)?.ready !== false;
    const [address] = itemsField(endpoint, "addresses");
    if (!isReady || typeof address !== "string") return [];
    const target = recordOf(endpoint)?.targetRef;
    const isPod = textField(target, "kind") === "Pod";
    const pod = `${textField(target, "namespace")}/${textField(target, "name")}`;
    const account = isPod ? accountOf(pod) : undefined;
    return [account === undefined ? [address, port] : [address, port, account]];
  });
}
