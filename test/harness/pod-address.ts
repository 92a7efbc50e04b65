import { networkInterfaces } from "node:os";
import { missingApiServer } from "./kubernetes-api.ts";

/**
 * An address of this machine that is not loopback, which the API server accepts for a pod; `undefined` if there is no
 * such address.
 */
export const podAddress: string | undefined = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === "IPv4" && !each.internal)?.address;

/** Why no API server accepts this machine's address for a pod; `undefined` if one does. */
export function missingPods(): string | undefined {
  return missingApiServer() ?? (podAddress === undefined ? "only loopback is there" : undefined);
}

/** A Service, and an EndpointSlice that says where its pods are: this machine, at one of its ports. */
export function serviceManifest(name: string, port: number, fields: ServiceFields = {}): string {
  const { labels = "", appProtocol, pod } = fields;
  const protocol = appProtocol === undefined ? "" : `, appProtocol: ${appProtocol}`;
  return `
apiVersion: v1
kind: Service
metadata: { name: ${name}, labels: { ${labels} } }
spec: { ports: [{ port: 80, targetPort: ${port}${protocol} }] }
---
${sliceManifest(name, port, pod)}`;
}

/** Parts of a Service that some tests set. */
interface ServiceFields {
  readonly labels?: string;
  readonly appProtocol?: string;
  /** The name of its pod. */
  readonly pod?: string;
}

/** The EndpointSlice of such a Service. */
export function sliceManifest(service: string, port: number, pod?: string): string {
  const target =
    pod === undefined ? "" : `, targetRef: { kind: Pod, namespace: default, name: ${pod} }`;
  return `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${service}, labels: { kubernetes.io/service-name: ${service} } }
addressType: IPv4
endpoints: [{ addresses: ["${podAddress}"]${target} }]
ports: [{ name: "", port: ${port} }]
`;
}
