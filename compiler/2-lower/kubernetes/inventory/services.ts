import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { ManifestOf, ServicePort } from "../../../manifests/manifests.ts";
import { hostAndPort } from "../../../model/host-url.ts";
import { isThisMachine } from "../../../model/own-ports.ts";
import { resourceName } from "./inventory.ts";
import type { ReferenceContext } from "./references.ts";

/** Returns the port of a reference; reports missing parts. */
export function portOf(
  service: ManifestOf<"Service">,
  wanted: number | undefined,
  origin: Origin,
  { diagnostics }: ReferenceContext,
): ServicePort | undefined {
  const { spec } = service;
  if (spec === undefined) return undefined;
  const ports = spec.ports ?? [];
  const { externalName } = spec;
  if (spec.type === "ExternalName" && externalName != null && isThisMachine(externalName))
    diagnostics.report("loopback-service", origin, {
      what: resourceName(service),
      host: externalName,
    });
  const what = resourceName(service);
  const candidates = ports.map(({ port }) => String(port));
  if (wanted === undefined) {
    diagnostics.report("missing-port", origin, { what, candidates });
    return undefined;
  }
  const sameNumber = ports.filter(({ port }) => port === wanted);
  const found = sameNumber.find(isOfTcp);
  // An ExternalName Service, which only stands for another host, may omit its ports.
  if (sameNumber.length === 0 && spec.type === "ExternalName") return { port: wanted };
  const [other] = sameNumber;
  if (found === undefined && other !== undefined) {
    const params = { what, port: wanted, protocol: other.protocol ?? "" };
    diagnostics.report("not-a-tcp-port", childOf(origin, "port"), params);
  } else if (found === undefined) {
    const params = { what, section: String(wanted), candidates };
    diagnostics.report("missing-section", childOf(origin, "port"), params);
  }
  return found;
}

/** Whether a port uses TCP, Kubernetes' default. */
function isOfTcp({ protocol }: ServicePort): boolean {
  return protocol == null || protocol === "TCP";
}

/** Returns a Service's host name in the cluster. */
export function serviceName({ spec, namespace, name }: ManifestOf<"Service">): string {
  return spec?.type === "ExternalName"
    ? (spec.externalName ?? "")
    : `${name}.${namespace}.svc.cluster.local`;
}

/** Returns the address of a Service's port by name. Cluster DNS tracks pods as they are added and removed. */
export function serviceAddress(service: ManifestOf<"Service">, port: ServicePort): string {
  const isHeadless = service.spec?.clusterIP === "None";
  const number = isHeadless && typeof port.targetPort === "number" ? port.targetPort : port.port;
  return hostAndPort(serviceName(service), number);
}

/** Returns the `HOST:PORT` of a Service's port with a single server; several cannot be balanced here (reported). */
export function portAddress(
  service: ManifestOf<"Service">,
  port: ServicePort,
  origin: Origin,
  context: ReferenceContext,
): string {
  const [only, second, ...others] = endpointsOf(service, port, context);
  if (second !== undefined) {
    const what = "balancing over several endpoints";
    const field = `an EndpointSlice of ${resourceName(service)} with ${others.length + 2} addresses`;
    context.diagnostics.report("not-built-yet", origin, { what, field });
  }
  return only ?? serviceAddress(service, port);
}

/**
 * Controller that manages EndpointSlices of Services with a selector. These track pods, so they would be outdated
 * at compile time.
 */
const POD_SLICES = "endpointslice-controller.k8s.io";

/**
 * Returns the ready addresses of a Service's port from EndpointSlices written by hand; empty if there are no such
 * slices.
 */
export function endpointsOf(
  service: ManifestOf<"Service">,
  port: ServicePort,
  { inventory }: ReferenceContext,
): readonly string[] {
  const slices = inventory
    .slicesOf(service)
    .filter(({ labels }) => labels["endpointslice.kubernetes.io/managed-by"] !== POD_SLICES);
  const addresses = slices.flatMap(({ spec }) => {
    const number = (spec?.ports ?? []).find(
      (each) => (each.name ?? "") === (port.name ?? "") && typeof each.port === "number",
    )?.port;
    if (number == null) return [];
    const ready = (spec?.endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
    return ready.flatMap((each) => each.addresses.map((host) => hostAndPort(host, number)));
  });
  return [...new Set(addresses)].toSorted();
}
