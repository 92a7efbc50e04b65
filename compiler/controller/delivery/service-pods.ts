import type { PodAddress } from "../../../runtime/net/service-endpoints.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import type { ServicePortName } from "../model/called-services.ts";

/** Returns the mesh identity `NAMESPACE/ACCOUNT` of a pod (`NAMESPACE/NAME`); `undefined` if it is in no mesh. */
export type AccountOf = (pod: string) => string | undefined;

/** Returns the ready pods of a Service's port; `undefined` if it has no EndpointSlices, and its name is used instead. */
export function servicePods(
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
