import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { ManifestOf, ServicePort } from "../../../manifests/manifests.ts";
import { hostAndPort } from "../../../model/host-url.ts";
import { isThisMachine } from "../../../model/own-ports.ts";
import { resourceName } from "./inventory.ts";
import type { ReferenceContext } from "./references.ts";

/** The port that a reference means; what is missing is reported. */
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
  // A Service that is only a name for another host may leave its ports out.
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

/** Kubernetes: TCP unless it says another one. */
function isOfTcp({ protocol }: ServicePort): boolean {
  return protocol == null || protocol === "TCP";
}

/** The name under which a cluster knows a Service. */
export function serviceName({ spec, namespace, name }: ManifestOf<"Service">): string {
  return spec?.type === "ExternalName"
    ? (spec.externalName ?? "")
    : `${name}.${namespace}.svc.cluster.local`;
}

/** Where a Service's port is reached by name: cluster DNS follows pods as they come and go. */
export function serviceAddress(service: ManifestOf<"Service">, port: ServicePort): string {
  const isHeadless = service.spec?.clusterIP === "None";
  const number = isHeadless && typeof port.targetPort === "number" ? port.targetPort : port.port;
  return hostAndPort(serviceName(service), number);
}

/** `HOST:PORT` of the one server of a Service's port; several are not balanced here (reported). */
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

/** Who writes the slices of Services with a selector: they follow pods, and are out of date when they are compiled. */
const POD_SLICES = "endpointslice-controller.k8s.io";

/** The ready addresses of a Service's port, of EndpointSlices that someone wrote; empty without any. */
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
