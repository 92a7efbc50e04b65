import { UNRESOLVED } from "../../../backends/ai/refused-models.ts";
import type {
  BackendSection,
  KubernetesBackendContext,
  LocalReference,
  ResourceContext,
  SelectedServer,
} from "../../../backends/backend.ts";
import {
  type BackendConfig,
  type BackendKind,
  backendOf,
  backends,
  kubernetesValue,
} from "../../../backends/index.ts";
import type { InferencePoolConfig } from "../../../backends/inference-pool/inference-pool-config.ts";
import { poolOf } from "../../../backends/inference-pool/pool-of-resource.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { Manifest, ManifestOf, ServicePort } from "../../../manifests/manifests.ts";
import type { BackendReference } from "../../../manifests/routes.ts";
import type { ServerConfig } from "../../../model/server-policies.ts";
import type { CachedReadings } from "../inventory/cached-readings.ts";
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

/** A backend in the vocabulary of standalone files, with its resource. */
export interface KubernetesBackend {
  readonly config: BackendConfig;
  /** `undefined` if it was not found (reported). */
  readonly manifest: ManifestOf<(typeof BACKEND_KINDS)[number] | "GatewayModel"> | undefined;
  /** Its parts by name, such as MCP targets. */
  readonly parts: ReadonlyMap<string, BackendSection>;
  /** Port of a Service, as named in policies, or of a pool's endpoints. */
  readonly port: ServicePort | undefined;
  /** `HOST:PORT` of each of its servers, if they are known individually. */
  readonly addresses: readonly string[];
}

/** Kinds that a route can refer to. */
export const BACKEND_KINDS = ["Service", "GatewayBackend", "InferencePool"] as const;

/** A GatewayBackend as read. */
export type DeclaredBackend = Pick<KubernetesBackend, "config" | "parts">;

/** All GatewayBackends, used or not. */
export type DeclaredBackends = Pick<
  ReadonlyMap<ManifestOf<"GatewayBackend">, DeclaredBackend>,
  "get" | "entries" | "values"
>;

/** Services needed to find a backend. */
export interface BackendContext extends ReferenceContext {
  /** GatewayBackends without mistakes. */
  readonly backends: DeclaredBackends;
}

/** GatewayBackends as read, `undefined` for those with mistakes. */
export type CachedBackends = CachedReadings<DeclaredBackend | undefined>;

/** Reads all GatewayBackends; omits those with mistakes (reported). */
export function declaredBackends(
  context: ReferenceContext,
  cache: CachedBackends,
): DeclaredBackends {
  const read = context.inventory.all("GatewayBackend").flatMap((manifest) => {
    const at = childOf(manifest.origin, "spec");
    const { value, diagnostics } = cache.of(manifest, "", context, (recorded) =>
      guarded(at, recorded.diagnostics, () =>
        backends.flatMap(({ kind }) => readKind(kind, manifest, recorded) ?? []).at(0),
      ),
    );
    for (const each of diagnostics) context.diagnostics.add(each);
    return value === undefined ? [] : [[manifest, value] as const];
  });
  return new Map(read);
}

/** A reference in a route. */
export interface RouteReference {
  readonly reference: BackendReference;
  readonly from: Manifest;
  readonly origin: Origin;
  /** Returns the server that a resource refers to; `undefined` if it is unknown (reported). */
  readonly server: (
    reference: BackendReference,
    from: Manifest,
    origin: Origin,
  ) => ServerConfig | undefined;
}

/** Returns the backend of a route's reference. */
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

/** Returns the backend of an existing resource. */
function foundBackend(
  manifest: ManifestOf<(typeof BACKEND_KINDS)[number]>,
  { reference, origin, server: serverOf }: RouteReference,
  context: BackendContext,
): KubernetesBackend {
  const none = {
    config: unresolved(origin),
    parts: new Map<string, BackendSection>(),
    addresses: [],
  };
  if (manifest?.kind === "GatewayBackend") {
    // Mistakes of a GatewayBackend are reported once, not at each reference.
    const found = context.backends.get(manifest) ?? { config: unresolved(manifest.origin) };
    return { ...none, ...found, manifest, port: undefined };
  }
  if (manifest?.kind === "InferencePool") {
    const asks = (to: BackendReference, at: Origin) => serverOf(to, manifest, at);
    const config = backends.flatMap(({ kind }) => ofResource(kind, manifest, asks, context) ?? []);
    const own = config.at(0) ?? unresolved(manifest.origin);
    return { ...none, config: own, manifest, port: poolPort(manifest) };
  }
  const port = portOf(manifest, reference.port, origin, context);
  if (port === undefined) return { ...none, manifest, port };
  const addresses = endpointsOf(manifest, port, context);
  const config = server(addresses[0] ?? serviceAddress(manifest, port), origin);
  return { ...none, config, manifest, port, addresses };
}

/** Returns the port and protocol of a pool's endpoints in the form of a Service's port. */
function poolPort({ spec }: ManifestOf<"InferencePool">): ServicePort | undefined {
  const port = spec?.targetPorts?.[0]?.number ?? spec?.targetPortNumber;
  return port === undefined ? undefined : { port, appProtocol: spec?.appProtocol ?? null };
}

/** Returns a server by its address. */
function server(address: string, origin: Origin): BackendConfig<"host"> {
  return { kind: "host", config: { address }, origin };
}

/** Returns a placeholder for an unknown server, which is never called: its share of the requests is refused. */
export function unresolved(origin: Origin): BackendConfig {
  return { ...server(UNRESOLVED, origin), isRefused: true };
}

function readKind<Kind extends BackendKind>(
  kind: Kind,
  manifest: ManifestOf<"GatewayBackend">,
  context: ReferenceContext,
):
  | { readonly config: BackendConfig<Kind>; readonly parts: KubernetesBackend["parts"] }
  | undefined {
  const { kubernetes: form } = backendOf(kind);
  const found = manifest.spec && kubernetesValue(kind, manifest.spec);
  if (form === undefined || found === undefined) return undefined;
  const { field, value } = found;
  const origin = childOf(manifest.origin, "spec", field);
  const { config, sections } = form.lower(value, backendContext(manifest, origin, context));
  return { config: { kind, config, origin }, parts: sections };
}

function ofResource<Kind extends BackendKind>(
  kind: Kind,
  manifest: Manifest,
  server: ResourceContext["server"],
  context: ReferenceContext,
): BackendConfig<Kind> | undefined {
  const config = backendOf(kind).ofResource?.(manifest, resourceContext(server, context));
  return config === undefined ? undefined : { kind, config, origin: manifest.origin };
}

function resourceContext(
  server: ResourceContext["server"],
  { inventory, diagnostics, isDelivered }: ReferenceContext,
): ResourceContext {
  return {
    diagnostics,
    servicesIn: (namespace) => inventory.inNamespace("Service", namespace),
    server,
    hostOf: serviceName,
    nameOf: resourceName,
    ...(isDelivered && { podsHost: poolHost }),
  };
}

/** Returns the pools of a backend's parts, by the names of the parts; omits those with mistakes (reported). */
export function poolsOfParts(
  parts: KubernetesBackend["parts"],
  serverOf: RouteReference["server"],
  context: ReferenceContext,
): ReadonlyMap<string, InferencePoolConfig> {
  const found = [...parts].flatMap(([name, { service }]) => {
    if (service?.service.kind !== "InferencePool") return [];
    const pool = service.service;
    const server = (to: BackendReference, at: Origin) => serverOf(to, pool, at);
    const config = poolOf(pool, resourceContext(server, context));
    return config === undefined ? [] : [[name, config] as const];
  });
  return new Map(found);
}

/** Returns the Service or pool of a reference, with its port; `undefined` if it is missing (reported). */
export function selectedServer(
  reference: LocalReference,
  from: Manifest,
  origin: Origin,
  context: ReferenceContext,
): SelectedServer | undefined {
  const kinds = ["Service", "InferencePool"] as const;
  const service = follow({ to: reference, from, origin, kinds }, context);
  if (service === undefined) return undefined;
  const port =
    service.kind === "InferencePool"
      ? poolPort(service)
      : portOf(service, reference.port, origin, context);
  return port && { service, port };
}

/** Returns a host name that DNS does not know: a controller resolves it to pods. */
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
    services: (selector) => {
      const { inventory } = context;
      const { services = {}, namespaces } = selector ?? {};
      const isInside = ({ namespace }: Manifest): boolean =>
        namespaces === undefined || selects(namespaces, inventory.namespaceLabels(namespace));
      const found =
        namespaces === undefined
          ? inventory.inNamespace("Service", manifest.namespace)
          : inventory.all("Service");
      return found.filter((each) => selects(services, each.labels) && isInside(each));
    },
    servicePort: (name, wanted, { reference, portOwner }) => {
      const to = { group: "", kind: "Service", name };
      const kinds = ["Service"] as const;
      const service = follow({ to, from: manifest, origin: reference, kinds }, context);
      const port = service && portOf(service, wanted, portOwner, context);
      return service && port && { service, port };
    },
    server: (reference, at) => selectedServer(reference, manifest, at, context),
    configMap: (name) => ({
      namespace: manifest.namespace,
      manifest: context.inventory.find("ConfigMap", manifest.namespace, name),
    }),
    address: ({ service, port }, at) => portAddress(service, port, at, context),
    nameOf: resourceName,
  };
}
