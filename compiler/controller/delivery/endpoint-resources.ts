import type { DiscoveryResource } from "../../../runtime/discovery/resource-types.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import { recordOf, textField } from "../kubernetes/json-fields.ts";
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

  /**
   * Of a Service's port; undefined: it has no EndpointSlices, and its name says where it is. `isInMesh`: who asks is told as
   * whom pods are in its mesh.
   */
  of(port: ServicePortName, isInMesh: boolean): DiscoveryResource | undefined {
    const name = `${endpointsName(port)}${isInMesh ? " in the mesh" : ""}`;
    const key = `${port.namespace}/${port.name}`;
    const service = this.#objects.find("Service", key);
    const slices = [...this.#objects.slicesOf(key)];
    const known = this.#known.get(name);
    const isSame =
      known !== undefined &&
      known.service === service &&
      (!isInMesh || known.meshVersion === this.#objects.meshVersion) &&
      known.slices.length === slices.length &&
      known.slices.every((each, index) => each === slices[index]);
    if (isSame) return known.resource;
    const accountOf = (endpoint: unknown) =>
      isInMesh ? meshAccount(endpoint, this.#objects) : undefined;
    const pods = service && servicePods(port, service, slices, accountOf);
    const resource = pods && resourceOf(JSON.stringify(pods));
    if (service === undefined) this.#known.delete(name);
    else
      this.#known.set(name, { service, slices, resource, meshVersion: this.#objects.meshVersion });
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
  /** How often pods of the mesh had changed. */
  readonly meshVersion: number;
}

/** Nobody's account: a pod of which it is not known whether it is in the mesh is not called unencrypted. */
const NOBODY = "/";

/** As whom an endpoint is in the mesh. */
function meshAccount(endpoint: unknown, objects: WatchedObjects): string | undefined {
  if (!objects.isMeshKnown) return NOBODY;
  const target = recordOf(endpoint)?.targetRef;
  if (textField(target, "kind") !== "Pod") return undefined;
  const namespace = textField(target, "namespace");
  const pod = objects.meshPod(`${namespace}/${textField(target, "name")}`);
  return pod && `${namespace}/${textField(pod.spec, "serviceAccountName") ?? "default"}`;
}
