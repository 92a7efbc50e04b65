import type { PodAddress } from "../../../runtime/net/service-endpoints.ts";
import type { Program } from "../../ir/program.ts";
import type { ApiObject } from "../kubernetes/api-object.ts";
import { itemsField, recordOf, textField } from "../kubernetes/json-fields.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";

/** A port of a Service, as a host of the code names it. */
export interface ServicePortName {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** The Services that a program calls. */
export function servicesOf({
  binds,
  tcp,
  accessLog,
  tracing,
}: Program): readonly ServicePortName[] {
  const found = new Map<string, ServicePortName>();
  const seen = new Set<object>();
  const walk = (value: unknown): void => {
    if (typeof value === "string") {
      const [id = "", name = "", namespace = "", port] = SERVICE_URL.exec(value) ?? [];
      const number = Number(port ?? (value.startsWith("https:") ? 443 : 80));
      if (id !== "") found.set(`${namespace}/${name}:${number}`, { namespace, name, port: number });
      return;
    }
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    for (const each of value instanceof Map ? value.values() : Object.values(value)) walk(each);
  };
  walk([binds, tcp, accessLog, tracing]);
  return [...found.values()];
}

/** A host of the DNS of Kubernetes, in a URL or by itself. */
const SERVICE_URL = /^(?:[a-z+]+:\/\/)?([a-z0-9-]+)\.([a-z0-9-]+)\.svc\.[a-z.]+(?::(\d+))?(?:\/|$)/;

/** The ready pods of a Service's port; undefined: it has no EndpointSlices, and its name says where it is. */
export function servicePods(
  { namespace, name, port }: ServicePortName,
  objects: WatchedObjects,
): readonly PodAddress[] | undefined {
  const service = objects.find("Service", `${namespace}/${name}`);
  const slices = [...objects.slicesOf(`${namespace}/${name}`)];
  if (service === undefined || slices.length === 0) return undefined;
  const portName = portNameOf(service, port);
  if (portName === undefined) return undefined;
  return slices.flatMap((slice) => readyPods(slice, portName)).toSorted();
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

function readyPods(slice: ApiObject, portName: string): readonly PodAddress[] {
  const ports = itemsField(slice, "ports");
  const port = recordOf(ports.find((each) => (textField(each, "name") ?? "") === portName))?.port;
  if (typeof port !== "number") return [];
  return itemsField(slice, "endpoints").flatMap((endpoint): readonly PodAddress[] => {
    const isReady = recordOf(recordOf(endpoint)?.conditions)?.ready !== false;
    const [address] = itemsField(endpoint, "addresses");
    return isReady && typeof address === "string" ? [[address, port]] : [];
  });
}
