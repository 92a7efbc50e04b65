import type { DiscoveryResource } from "../../../runtime/discovery/resource-types.ts";
import type { PodAddress } from "../../../runtime/net/service-endpoints.ts";
import { itemsField, recordOf } from "../kubernetes/json-fields.ts";
import { endpointsName, type ServicePortName } from "../model/called-services.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import { resourceOf } from "./resource-of.ts";
import { type AccountOf, servicePods } from "./service-pods.ts";

/** The pods of Services as data planes get them: what did not change is not written again. */
export class EndpointResources {
  readonly #objects: WatchedObjects;
  readonly #known: Map<string, KnownPods> = new Map();

  constructor(objects: WatchedObjects) {
    this.#objects = objects;
  }

  /**
   * Of a Service's port, or a port of a pool's pods; undefined: its pods are not known, and its name says where it is.
   * `isInMesh`: who asks is told as whom pods are in its mesh.
   */
  of(port: ServicePortName, isInMesh: boolean): DiscoveryResource | undefined {
    const name = `${endpointsName(port)}${isInMesh ? " in the mesh" : ""}`;
    const madeOf = [...this.#partsOf(port), isInMesh ? this.#objects.mesh.version : undefined];
    const known = this.#known.get(name);
    const isSame =
      known?.madeOf.length === madeOf.length &&
      known.madeOf.every((each, index) => each === madeOf[index]);
    if (isSame) return known.resource;
    const accountOf = (pod: string) => (isInMesh ? this.#objects.mesh.accountOf(pod) : undefined);
    const pods = this.#podsOf(port, accountOf);
    const resource = pods && resourceOf(JSON.stringify(pods));
    if (pods === undefined) this.#known.delete(name);
    else this.#known.set(name, { madeOf, resource });
    return resource;
  }

  /** What a resource is made of: where that is the same, it is the same one. */
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

/** What was made of the objects that say where pods are. */
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
