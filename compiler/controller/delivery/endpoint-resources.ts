import type { DiscoveryResource } from "../../../runtime/discovery/resource-types.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import type { ServicePortName } from "../model/called-services.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import { resourceOf } from "./resource-of.ts";
import { servicePods } from "./service-pods.ts";

/** The pods of Services as data planes get them: what did not change is not written again. */
export class EndpointResources {
  readonly #objects: WatchedObjects;
  readonly #known: Map<string, KnownPods> = new Map();

  constructor(objects: WatchedObjects) {
    this.#objects = objects;
  }

  /** Of a Service's port; undefined: it has no EndpointSlices, and its name says where it is. */
  of(port: ServicePortName): DiscoveryResource | undefined {
    const name = endpointsName(port);
    const key = `${port.namespace}/${port.name}`;
    const service = this.#objects.find("Service", key);
    const slices = [...this.#objects.slicesOf(key)];
    const known = this.#known.get(name);
    const isSame =
      known !== undefined &&
      known.service === service &&
      known.slices.length === slices.length &&
      known.slices.every((each, index) => each === slices[index]);
    if (isSame) return known.resource;
    const pods = service && servicePods(port, service, slices);
    const resource = pods && resourceOf(JSON.stringify(pods));
    if (service === undefined) this.#known.delete(name);
    else this.#known.set(name, { service, slices, resource });
    return resource;
  }
}

/** What data planes call the pods of a Service's port. */
export function endpointsName({ namespace, name, port }: ServicePortName): string {
  return `${namespace}/${name}:${port}`;
}

/** What was made of a Service and its EndpointSlices. */
interface KnownPods {
  readonly service: ApiObject;
  readonly slices: readonly ApiObject[];
  readonly resource: DiscoveryResource | undefined;
}
