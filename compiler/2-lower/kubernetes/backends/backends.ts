import type {
  BackendSection,
  KubernetesBackendContext,
  ResourceContext,
  ServiceSelector,
} from "../../../backends/backend.ts";
import {
  type BackendConfig,
  type BackendKind,
  backendOf,
  backends,
  kubernetesValue,
} from "../../../backends/index.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { Manifest, ManifestOf, ServicePort } from "../../../manifests/manifests.ts";
import type { BackendReference } from "../../../manifests/routes.ts";
import type { ServerConfig } from "../../../model/server-policies.ts";
import { resourceName } from "../inventory/inventory.ts";
import { follow, type ReferenceContext } from "../inventory/references.ts";
import { selects } from "../inventory/selectors.ts";
import {
  endpointsOf,
  portAddress,
  portOf,
  serviceAddress,
  serviceName,
} from "../inventory/services.ts";

/** A backend as the standalone file would have it, and the resource that it is. */
export interface KubernetesBackend {
  readonly config: BackendConfig;
  /** Undefined when it could not be found (reported). */
  readonly manifest: ManifestOf<(typeof BACKEND_KINDS)[number]> | undefined;
  /** Its parts by name: MCP targets. */
  readonly parts: ReadonlyMap<string, BackendSection>;
  /** The port of a Service, its name and number as policies name it, or of a pool's endpoints. */
  readonly port: ServicePort | undefined;
  /** `HOST:PORT` of each of its servers, when they are known one by one. */
  readonly addresses: readonly string[];
}

/** The kinds that a route may send to. */
export const BACKEND_KINDS = ["Service", "GatewayBackend", "InferencePool"] as const;

/** GatewayBackends as read, whoever uses them. */
export type DeclaredBackends = ReadonlyMap<
  ManifestOf<"GatewayBackend">,
  Pick<KubernetesBackend, "config" | "parts">
>;

/** What finding a backend needs. */
export interface BackendContext extends ReferenceContext {
  /** What GatewayBackends are; those with mistakes are not there. */
  readonly backends: DeclaredBackends;
}

/** Reads every GatewayBackend; one with mistakes (reported) is left out. */
export function declaredBackends(context: ReferenceContext): DeclaredBackends {
  const read = context.inventory.all("GatewayBackend").flatMap((manifest) => {
    const at = childOf(manifest.origin, "spec");
    const found = guarded(at, context.diagnostics, () =>
      backends.flatMap(({ kind }) => readKind(kind, manifest, context) ?? []).at(0),
    );
    return found === undefined ? [] : [[manifest, found] as const];
  });
  return new Map(read);
}

/** A reference of a route. */
export interface RouteReference {
  readonly reference: BackendReference;
  readonly from: Manifest;
  readonly origin: Origin;
  /** The server that a resource refers to; undefined when there is none (reported). */
  readonly server: (
    reference: BackendReference,
    from: Manifest,
    origin: Origin,
  ) => ServerConfig | undefined;
}

/** What a route's reference leads to. */
export function referencedBackend(
  { reference, from, origin, server: serverOf }: RouteReference,
  context: BackendContext,
): KubernetesBackend {
  const manifest = follow({ to: reference, from, origin, kinds: BACKEND_KINDS }, context);
  const none = { parts: new Map<string, BackendSection>(), addresses: [], port: undefined };
  if (manifest === undefined) return { ...none, config: unresolved(origin), manifest };
  const at = childOf(manifest.origin, "spec");
  const found = guarded(at, context.diagnostics, () =>
    foundBackend(manifest, { reference, from, origin, server: serverOf }, context),
  );
  return found ?? { ...none, config: unresolved(at), manifest };
}

/** A backend that is there. */
function foundBackend(
  manifest: NonNullable<KubernetesBackend["manifest"]>,
  { reference, origin, server: serverOf }: RouteReference,
  context: BackendContext,
): KubernetesBackend {
  const none = {
    config: unresolved(origin),
    parts: new Map<string, BackendSection>(),
    addresses: [],
  };
  if (manifest?.kind === "GatewayBackend") {
    // One that has mistakes is not read: they are its own, wherever it is referred to.
    const found = context.backends.get(manifest) ?? { config: unresolved(manifest.origin) };
    return { ...none, ...found, manifest, port: undefined };
  }
  if (manifest?.kind === "InferencePool") {
    const asks = (to: BackendReference, at: Origin) => serverOf(to, manifest, at);
    const config = backends.flatMap(({ kind }) => ofResource(kind, manifest, asks, context) ?? []);
    return { ...none, config: config.at(0) ?? none.config, manifest, port: poolPort(manifest) };
  }
  const port = portOf(manifest, reference.port, origin, context);
  if (port === undefined) return { ...none, manifest, port };
  const addresses = endpointsOf(manifest, port, context);
  const config = server(addresses[0] ?? serviceAddress(manifest, port), origin);
  return { ...none, config, manifest, port, addresses };
}

/** What the endpoints of a pool speak, as a Service says it of its port. */
function poolPort({ spec }: ManifestOf<"InferencePool">): ServicePort | undefined {
  const port = spec?.targetPorts?.[0]?.number ?? spec?.targetPortNumber;
  return port === undefined ? undefined : { port, appProtocol: spec?.appProtocol ?? null };
}

/** A server by its address. */
function server(address: string, origin: Origin): BackendConfig<"host"> {
  return { kind: "host", config: { address }, origin };
}

/** Stands for a server that is not known: the program is not used then, or nothing calls it. */
export function unresolved(origin: Origin): BackendConfig {
  return server("unresolved.invalid:80", origin);
}

function readKind<Kind extends BackendKind>(
  kind: Kind,
  manifest: ManifestOf<"GatewayBackend">,
  context: ReferenceContext,
):
  | { readonly config: BackendConfig<Kind>; readonly parts: KubernetesBackend["parts"] }
  | undefined {
  const { kubernetes: form } = backendOf(kind);
  const value = manifest.spec && kubernetesValue(kind, manifest.spec);
  if (form === undefined || value === undefined) return undefined;
  const origin = childOf(manifest.origin, "spec", form.field);
  const { config, sections } = form.lower(value, backendContext(manifest, origin, context));
  return { config: { kind, config, origin }, parts: sections };
}

function ofResource<Kind extends BackendKind>(
  kind: Kind,
  manifest: Manifest,
  server: ResourceContext["server"],
  { inventory, diagnostics, isDelivered }: ReferenceContext,
): BackendConfig<Kind> | undefined {
  const servicesIn = (namespace: string) => inventory.inNamespace("Service", namespace);
  const context = {
    diagnostics,
    servicesIn,
    server,
    hostOf: serviceName,
    nameOf: resourceName,
    ...(isDelivered && { podsHost: poolHost }),
  };
  const config = backendOf(kind).ofResource?.(manifest, context);
  return config === undefined ? undefined : { kind, config, origin: manifest.origin };
}

/** No DNS has it: a controller says which pods it stands for. */
function poolHost({ namespace, name }: Manifest): string {
  return `${name}.${namespace}.pool.cluster.local`;
}

function backendContext(
  manifest: ManifestOf<"GatewayBackend">,
  origin: Origin,
  context: ReferenceContext,
): KubernetesBackendContext {
  return {
    origin,
    diagnostics: context.diagnostics,
    services: (selector) =>
      context.inventory
        .all("Service")
        .filter((service) => isSelected(service, selector, manifest, context)),
    configMap: (name) => ({
      namespace: manifest.namespace,
      manifest: context.inventory.find("ConfigMap", manifest.namespace, name),
    }),
    address: ({ service, port }, at) => portAddress(service, port, at, context),
    nameOf: resourceName,
  };
}

/** Whether a selector of a backend means a Service: of its own namespace unless it says. */
function isSelected(
  service: ManifestOf<"Service">,
  selector: ServiceSelector,
  backend: ManifestOf<"GatewayBackend">,
  { inventory }: ReferenceContext,
): boolean {
  const isNear =
    selector?.namespaces === undefined
      ? service.namespace === backend.namespace
      : selects(selector.namespaces, inventory.namespaceLabels(service.namespace));
  return isNear && selects(selector?.services ?? {}, service.labels);
}
