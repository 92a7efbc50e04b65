import type { ConfigValue } from "../../1-parse/values.ts";
import { below, type Origin } from "../../diagnostics.ts";
import type {
  BackendReference,
  Manifest,
  ManifestOf,
  McpTargetSpec,
  ServicePort,
} from "../../manifests.ts";
import type { BackendConfig } from "../../resources.ts";
import { titleOf } from "./inventory.ts";
import { follow, type ReferenceContext } from "./references.ts";
import { selects } from "./selectors.ts";

/** A backend as the standalone file would have it, and the resource that it is. */
export interface ClusterBackend {
  readonly config: BackendConfig;
  /** Undefined when it could not be found (reported). */
  readonly manifest: ManifestOf<"Service"> | ManifestOf<"GatewayBackend"> | undefined;
  /** Its MCP targets by name. */
  readonly parts: ReadonlyMap<string, BackendPart>;
  /** The port of a Service: its name and number, as policies name it. */
  readonly port: ServicePort | undefined;
  /** `HOST:PORT` of each of its servers, when they are known one by one. */
  readonly addresses: readonly string[];
}

/** A target of an MCP backend. */
export interface BackendPart {
  /** The name under which policies know it. */
  readonly name: string;
  /** The Service that a selector found. */
  readonly service?: SelectedPort;
}

/** A port of a Service. */
export interface SelectedPort {
  readonly service: ManifestOf<"Service">;
  readonly port: ServicePort;
}

/** The kinds that a route may send to. */
export const BACKEND_KINDS = ["Service", "GatewayBackend"] as const;

/** What a route's reference leads to. */
export function backendOf(
  reference: BackendReference,
  from: Manifest,
  origin: Origin,
  context: ReferenceContext,
): ClusterBackend {
  const manifest = follow({ to: reference, from, origin, kinds: BACKEND_KINDS }, context);
  const none = { config: unresolved(origin), parts: new Map<string, BackendPart>(), addresses: [] };
  if (manifest?.kind === "GatewayBackend") {
    const found = gatewayBackend(manifest, context) ?? none;
    return { ...none, ...found, manifest, port: undefined };
  }
  if (manifest === undefined) return { ...none, manifest, port: undefined };
  const port = portOf(manifest, reference.port, origin, context);
  if (port === undefined) return { ...none, manifest, port };
  const addresses = endpointsOf(manifest, port, context);
  const config = addresses[0] ?? serviceAddress(manifest, port);
  return { ...none, config: { kind: "host", config, origin }, manifest, port, addresses };
}

/** Stands for what could not be resolved (reported): the program is not used then. */
function unresolved(origin: Origin): BackendConfig {
  return { kind: "host", config: "unresolved.invalid:80", origin };
}

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
  const what = titleOf(service);
  const candidates = ports.map(({ port }) => String(port));
  if (wanted === undefined) {
    diagnostics.report("missing-port", origin, { what, candidates });
    return undefined;
  }
  const found = ports.find(({ port }) => port === wanted);
  // A Service that is only a name for another host may leave its ports out.
  if (found === undefined && spec.type === "ExternalName") return { port: wanted };
  if (found === undefined) {
    const params = { what, section: String(wanted), candidates };
    diagnostics.report("missing-section", below(origin, "port"), params);
  }
  return found;
}

/** The name under which a cluster knows a Service. */
export function serviceName({ spec, namespace, name }: ManifestOf<"Service">): string {
  return spec?.type === "ExternalName"
    ? (spec.externalName ?? "")
    : `${name}.${namespace}.svc.cluster.local`;
}

/** Where a Service's port is reached by name: cluster DNS follows pods as they come and go. */
function serviceAddress(service: ManifestOf<"Service">, port: ServicePort): string {
  const isHeadless = service.spec?.clusterIP === "None";
  const number = isHeadless && typeof port.targetPort === "number" ? port.targetPort : port.port;
  return hostAndPort(serviceName(service), number);
}

/** `HOST:PORT` of the one server of a Service's port; several are not balanced here (reported). */
export function addressOf(
  service: ManifestOf<"Service">,
  port: ServicePort,
  origin: Origin,
  context: ReferenceContext,
): string {
  const [only, second, ...others] = endpointsOf(service, port, context);
  if (second !== undefined) {
    const what = "balancing over several endpoints";
    const field = `an EndpointSlice of ${titleOf(service)} with ${others.length + 2} addresses`;
    context.diagnostics.report("not-built-yet", origin, { what, field });
  }
  return only ?? serviceAddress(service, port);
}

/** Who writes the slices of Services with a selector: they follow pods, and are out of date when they are compiled. */
const POD_SLICES = "endpointslice-controller.k8s.io";

/** The ready addresses of a Service's port, of EndpointSlices that someone wrote; empty without any. */
function endpointsOf(
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

/** An address as URLs have it. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function gatewayBackend(
  manifest: ManifestOf<"GatewayBackend">,
  context: ReferenceContext,
): Pick<ClusterBackend, "config" | "parts"> | undefined {
  const { spec, origin } = manifest;
  const place = below(origin, "spec");
  if (spec?.static !== undefined) {
    const { host, port } = spec.static;
    const config = hostAndPort(host, port);
    return {
      config: { kind: "host", config, origin: below(place, "static") },
      parts: new Map(),
    };
  }
  if (spec?.dynamicForwardProxy !== undefined) {
    const at = below(place, "dynamicForwardProxy");
    const config = { kind: "dynamic", config: spec.dynamicForwardProxy, origin: at } as const;
    return { config, parts: new Map() };
  }
  if (spec?.mcp === undefined) return undefined;
  const at = below(place, "mcp");
  const targets = spec.mcp.targets.flatMap((target, index) =>
    targetConfigs(target, manifest, below(at, "targets", index), context),
  );
  const config: ConfigValue = {
    targets: targets.map(({ part: _, ...target }) => target),
    ...(spec.mcp.failureMode === "FailOpen" ? { failureMode: "failOpen" } : {}),
  };
  const parts = new Map(targets.map((target) => [target.name, target.part]));
  return { config: { kind: "mcp", config, origin: at }, parts };
}

/** A target as the standalone file has it, and as policies know it. */
type TargetConfig = { readonly name: string; readonly part: BackendPart } & {
  readonly [Kind in "mcp" | "sse"]?: { readonly [key: string]: ConfigValue };
};

/** A target as the standalone file has it; a selector gives one for each Service. */
function targetConfigs(
  target: McpTargetSpec,
  backend: ManifestOf<"GatewayBackend">,
  origin: Origin,
  context: ReferenceContext,
): readonly TargetConfig[] {
  const { name, static: server, selector } = target;
  if (server !== undefined) {
    const { host, port, path, protocol } = server;
    const address = { host, port, ...(path === undefined ? {} : { path: withSlash(path) }) };
    return [
      protocol === "SSE"
        ? { name, part: { name }, sse: address }
        : { name, part: { name }, mcp: address },
    ];
  }
  const services = context.inventory
    .all("Service")
    .filter((service) => isSelected(service, selector, backend, context));
  const found = services.flatMap((service) => mcpPorts(service).map((port) => ({ service, port })));
  for (const service of services) {
    // One with mistakes has been reported.
    if (service.spec === undefined || found.some((each) => each.service === service)) continue;
    const params = { service: titleOf(service), ports: service.spec.ports?.length ?? 0 };
    context.diagnostics.report("target-without-port", below(origin, "selector"), params);
  }
  if (services.length === 0)
    context.diagnostics.report("targets-without-match", below(origin, "selector"), {
      target: name,
    });
  const names = selectedNames(name, found);
  return found.flatMap(({ service, port }, index): readonly TargetConfig[] => {
    const address = addressOf(service, port, origin, context);
    const isSse = port.appProtocol?.endsWith("/mcp-sse") === true;
    const config = { name: names[index] ?? name, part: { name, service: { service, port } } };
    return isSse
      ? [{ ...config, sse: { host: `http://${address}/sse` } }]
      : [{ ...config, mcp: { host: `http://${address}/mcp` } }];
  });
}

/** One Service is the target itself; several are called after both, and after whatever tells them apart. */
function selectedNames(name: string, found: readonly SelectedPort[]): readonly string[] {
  if (found.length === 1) return [name];
  const services = found.map(({ service }) => `${name}-${service.name}`);
  return found.map(({ service, port }, index) => {
    const own = services[index] ?? name;
    const isUnique = services.filter((each) => each === own).length === 1;
    return isUnique ? own : `${name}-${service.namespace}-${service.name}-${port.port}`;
  });
}

/** The ports of a Service that speak MCP: those that say so, else the only one. */
function mcpPorts({ spec }: ManifestOf<"Service">): readonly ServicePort[] {
  const ports = spec?.ports ?? [];
  const marked = ports.filter(({ appProtocol }) => appProtocol?.includes("/mcp") === true);
  if (marked.length > 0) return marked;
  return ports.length === 1 ? ports : [];
}

function isSelected(
  service: ManifestOf<"Service">,
  selector: McpTargetSpec["selector"],
  backend: ManifestOf<"GatewayBackend">,
  { inventory }: ReferenceContext,
): boolean {
  const isNear =
    selector?.namespaces === undefined
      ? service.namespace === backend.namespace
      : selects(selector.namespaces, inventory.namespaceLabels(service.namespace));
  return isNear && selects(selector?.services ?? {}, service.labels);
}

function withSlash(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}
