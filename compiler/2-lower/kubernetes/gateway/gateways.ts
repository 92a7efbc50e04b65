import type {
  GatewayResource,
  PathHandlingResource,
  RouteResource,
  TcpRouteResource,
  UnservedResources,
} from "../../../config/resources.ts";
import { childOf } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { Manifest, ManifestOf } from "../../../manifests/manifests.ts";
import { declaredBackends } from "../backends/backends.ts";
import { checkGatewayCertificate } from "../backends/gateway-certificate.ts";
import { type AssumedResource, byAge, Inventory, resourceName } from "../inventory/inventory.ts";
import type { ReferenceContext } from "../inventory/references.ts";
import { attachModels } from "../models/model-parents.ts";
import { modelRoutes } from "../models/model-routes.ts";
import { modelValues } from "../models/model-values.ts";
import { newContext } from "../policies/new-context.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { modelKey, targetPolicies } from "../policies/policy-targets.ts";
import { preRoutingPolicies } from "../policies/pre-routing.ts";
import { unservedResources } from "../policies/unserved.ts";
import { reportWithoutEffect } from "../policies/without-effect.ts";
import {
  type AnyRoute,
  type Attachment,
  attach,
  isStream,
  parentKey,
  ROUTE_KINDS,
  withoutConflicts,
} from "../routes/attach.ts";
import { CachedManifests } from "../routes/cached-manifests.ts";
import { reportUndelegated, withDelegated, withoutDelegated } from "../routes/delegation.ts";
import { routeResources } from "../routes/http-routes.ts";
import { withinBounds } from "../routes/namespace-bounds.ts";
import { sharedRoutes } from "../routes/shared-routes.ts";
import { tcpRouteResources } from "../routes/tcp-routes.ts";
import { requestedAddresses } from "./addresses.ts";
import { clientsOfListeners } from "./client-certificates.ts";
import { checkAuditFile, checkGrace, deploymentOf } from "./deployment.ts";
import {
  gatewayAccessLogs,
  gatewayFields,
  gatewayFrontend,
  gatewayTracing,
  portFrontends,
} from "./frontend.ts";
import { checkImage } from "./images.ts";
import { checkListenerSets, type KubernetesListener, listenersOf } from "./listeners.ts";
import { gatewayMesh } from "./mesh.ts";
import { gatewayModelCatalog } from "./model-catalog.ts";
import { checkOverlaid } from "./overlays.ts";
import {
  declaredParameters,
  type ParametersSpec,
  parametersOf,
  parametersReferences,
} from "./parameters.ts";
import {
  checkLogFormat,
  lastOf,
  logLevels,
  pathHandlings,
  processNode,
  rawAccessLogs,
  rawFrontend,
} from "./process.ts";
import {
  NO_PARTS,
  type RawParts,
  rawParts,
  reportOverridden,
  unservedRawParts,
} from "./raw-config.ts";
import { gatewayKeysApi, gatewayStore, gatewayUsage } from "./store.ts";
import { gatewayWorkloadApi } from "./workload-api.ts";

/** A Gateway of manifests in the vocabulary of standalone files. */
export interface KubernetesGateway {
  readonly manifest: ManifestOf<"Gateway">;
  readonly gateway: GatewayResource;
  readonly routes: readonly (RouteResource | TcpRouteResource)[];
}

/** The result of lowering manifests. */
export interface KubernetesModel {
  readonly manifests: readonly Manifest[];
  readonly inventory: Inventory;
  readonly context: PolicyContext;
  readonly listeners: ReadonlyMap<string, readonly KubernetesListener[]>;
  readonly attachments: readonly Attachment[];
  readonly gateways: readonly KubernetesGateway[];
  readonly unserved: UnservedResources;
}

/** Controllers whose classes are compiled. */
export const CONTROLLERS: readonly string[] = ["gwc.dev/gateway", "agentgateway.dev/agentgateway"];

/**
 * Resolves references between manifests and merges policies. The resulting Gateways are independent of Kubernetes.
 */
export function lowerKubernetes(
  manifests: readonly Manifest[],
  given: Pick<ReferenceContext, "diagnostics" | "isDelivered">,
  {
    assumed,
    cache = new CachedManifests(),
  }: {
    readonly assumed?: AssumedResource | undefined;
    /** Cached results of the previous runs. */
    readonly cache?: CachedManifests | undefined;
  } = {},
): KubernetesModel {
  const inventory = new Inventory(manifests, assumed);
  const references: ReferenceContext = { inventory, ...given };
  const { diagnostics } = given;
  const own = inventory.all("Gateway").filter((gateway) => isOwn(gateway, references));
  checkListenerSets(references);
  const listeners = listenersByParent(own, references);
  const routes = ROUTE_KINDS.flatMap((kind): readonly AnyRoute[] => inventory.all(kind));
  const attached = routes
    .toSorted(byAge)
    .flatMap((route) => ofObject(route, references, () => attach(route, listeners, references)));
  const attachments = withDelegated(withoutConflicts(attached, references), references);
  reportUndelegated(attachments, references);
  const models = attachModels(listeners, attachments, references);
  const context = newContext({
    ...references,
    policyIndex: new Map([
      ...targetPolicies(references),
      ...inventory
        .all("GatewayModel")
        .map((model) => [modelKey(model), modelValues(model)] as const),
    ]),
    models,
    backends: declaredBackends(references, cache.backends),
  });
  // At the same path, models of a listener take precedence over its routes.
  const ofModels = modelRoutes([...listeners.values()].flat(), models, cache.modelRoutes);
  const all = [...ofModels, ...attachments];
  const byGateway = Map.groupBy(all, ({ listener }) => listener.gateway);
  const declared = declaredParameters(context);
  const parameters = new Map(
    own.map((manifest) => [
      manifest,
      ofObject(manifest, context, () => parametersOf(manifest, declared, context)),
    ]),
  );
  const raw = new Map(
    own.map((manifest) => {
      const typed = gatewayListeners(manifest, listeners).map(({ resource }) => resource);
      const ofGateway = parameters.get(manifest) ?? [];
      const at = childOf(manifest.origin, "spec");
      const parts = guarded(at, diagnostics, () => rawParts(ofGateway, typed, diagnostics));
      return [manifest, parts ?? NO_PARTS];
    }),
  );
  const gateways = own.flatMap((manifest): readonly KubernetesGateway[] => {
    // Routes come first: their policies determine which Secrets the Gateway mounts.
    const routes = routesOf(byGateway.get(manifest) ?? [], context, cache);
    const ofGateway = parameters.get(manifest) ?? [];
    const ofRaw = raw.get(manifest) ?? NO_PARTS;
    const gateway = guarded(childOf(manifest.origin, "spec"), diagnostics, () =>
      gatewayResource(manifest, ofGateway, ofRaw, listeners, context),
    );
    return gateway === undefined
      ? []
      : [{ manifest, gateway, routes: [...routes, ...ofRaw.routes] }];
  });
  const routed = gateways.flatMap((gateway) => gateway.routes);
  const used = new Set([...parameters.values()].flat());
  const unused = [...declared.values()].filter((each) => !used.has(each));
  const ofManifests = unservedResources(routed, context, cache.unserved);
  const ofRaw = unservedRawParts(declared.values(), [...raw.values()]);
  const unserved = {
    policies: [...ofManifests.policies, ...ofRaw.policies],
    backends: [...ofManifests.backends, ...ofRaw.backends],
    logLevels: unused.flatMap((each) => logLevels([each])),
  };
  reportWithoutEffect(context);
  return { manifests, inventory, context, listeners, attachments: all, gateways, unserved };
}

/** Processes one object. A bug of gwc in it is reported for this object, and its results are omitted. */
function ofObject<Found>(
  { origin }: Manifest,
  { diagnostics }: ReferenceContext,
  work: () => readonly Found[],
): readonly Found[] {
  return guarded(childOf(origin, "spec"), diagnostics, work) ?? [];
}

function routesOf(
  attachments: readonly Attachment[],
  context: PolicyContext,
  cache: CachedManifests,
): readonly (RouteResource | TcpRouteResource)[] {
  const rules = attachments.flatMap((attachment) => {
    const { route, listener } = attachment;
    if (route.kind !== "HTTPRoute" && route.kind !== "GRPCRoute") return [];
    const { name } = listener.resource;
    const resources = ofObject(route, context, () =>
      cache.routes.of(attachment, context, (own) => routeResources(attachment, route, own)),
    );
    return resources.map((resource) => ({ resource, listener: name }));
  });
  const connections = attachments.flatMap((attachment) => {
    if (!isStream(attachment.route)) return [];
    const { name } = attachment.listener.resource;
    const resources = ofObject(attachment.route, context, () =>
      cache.streams.of(attachment, context, (own) => tcpRouteResources(attachment, own)),
    );
    return resources.map((resource) => ({ resource, listener: name }));
  });
  const all = [
    ...sharedRoutes(withoutDelegated(rules), cache.routes.shared),
    ...sharedRoutes(connections, cache.streams.shared),
  ];
  return withinBounds(all, cache.sizes, context.diagnostics);
}

function gatewayResource(
  manifest: ManifestOf<"Gateway">,
  parameters: readonly ParametersSpec[],
  raw: RawParts,
  listeners: ReadonlyMap<string, readonly KubernetesListener[]>,
  context: PolicyContext,
): GatewayResource {
  const paths = pathHandlings(parameters);
  const ofGateway = gatewayListeners(manifest, listeners);
  if (!manifest.isPartial) checkNamed(paths, ofGateway, context);
  const clientsOf = clientsOfListeners(manifest, ofGateway, context);
  const typed = ofGateway.map((listener) => ({
    ...listener.resource,
    tls: listener.resource.tls && { ...listener.resource.tls, clients: clientsOf(listener) },
    pathHandling: paths.get(listener.resource.name),
    // Policies on a Gateway before routing only apply to requests.
    policies: isOfRequests(listener) ? preRoutingPolicies(listener, context) : [],
  }));
  const own = [...typed, ...raw.listeners];
  const fields = new Set(gatewayFields(manifest, context).keys());
  reportOverridden(parameters, fields, context.diagnostics);
  // As with routes, the policies of these servers determine which Secrets the Gateway mounts.
  const accessLogs = [...rawAccessLogs(parameters), ...gatewayAccessLogs(manifest, context)];
  const tracing = gatewayTracing(manifest, parameters, context);
  const store = gatewayStore(manifest, parameters, context);
  const usage = gatewayUsage(parameters);
  const keysApi = gatewayKeysApi(manifest, parameters, context);
  const id = `${manifest.namespace}/${manifest.name}`;
  const mounts = {
    secrets: context.secrets.get(id) ?? new Set<string>(),
    configMaps: context.configMaps.get(id) ?? new Set<string>(),
  };
  checkGatewayCertificate(manifest, context);
  const process = processNode(parameters);
  const rawOfFrontend = rawFrontend(parameters, manifest.origin);
  checkGrace(parameters, process, context.diagnostics);
  checkAuditFile(parameters, process, context.diagnostics);
  checkLogFormat(parameters, context.diagnostics);
  checkImage(parameters, context.diagnostics);
  checkOverlaid(parameters, context.diagnostics);
  return {
    kind: "gateway",
    process,
    frontend: gatewayFrontend(manifest, rawOfFrontend, own, context),
    ...customFunctions(parameters),
    portFrontends: portFrontends(manifest, rawOfFrontend, own, context),
    accessLogs,
    tracing,
    logLevels: logLevels(parameters),
    store,
    usage,
    keysApi,
    ...gatewayModelCatalog(manifest, parameters, context),
    mesh: gatewayMesh(parameters, context),
    workloadApi: gatewayWorkloadApi(parameters),
    isPartial: parametersReferences(manifest, context.inventory).length > parameters.length,
    deployment: deploymentOf(
      manifest,
      parameters,
      own,
      mounts,
      requestedAddresses(manifest, context.diagnostics),
    ),
    backends: raw.backends,
    listeners: own,
    origin: childOf(manifest.origin, "spec"),
  };
}

/** Returns the functions of the expressions of a Gateway; those of its own parameters replace those of its class. */
function customFunctions(
  parameters: readonly ParametersSpec[],
): Pick<GatewayResource, "customFunctions"> {
  const found = lastOf(parameters, ({ rawConfig, origin }) => {
    const definitions = rawConfig?.config?.customFunctions;
    const at = childOf(origin, "spec", "rawConfig", "config", "customFunctions");
    return definitions === undefined ? undefined : { text: definitions, origin: at };
  });
  return found === undefined ? {} : { customFunctions: found };
}

/** Reports raw configuration for listeners that do not exist. */
function checkNamed(
  named: ReadonlyMap<string, PathHandlingResource>,
  listeners: readonly KubernetesListener[],
  { diagnostics }: PolicyContext,
): void {
  const candidates = listeners.map(({ resource }) => resource.name);
  for (const [section, { origin }] of named) {
    if (candidates.includes(section)) continue;
    diagnostics.report("missing-section", origin, { what: "the Gateway", section, candidates });
  }
}

function gatewayListeners(
  manifest: ManifestOf<"Gateway">,
  listeners: ReadonlyMap<string, readonly KubernetesListener[]>,
): readonly KubernetesListener[] {
  return [...listeners.values()].flat().filter(({ gateway }) => gateway === manifest);
}

function isOfRequests({ resource: { protocol } }: KubernetesListener): boolean {
  return protocol === "HTTP" || protocol === "HTTPS";
}

/** Returns the listeners by parent (Gateway or ListenerSet) to which routes attach. */
function listenersByParent(
  gateways: readonly ManifestOf<"Gateway">[],
  context: ReferenceContext,
): ReadonlyMap<string, readonly KubernetesListener[]> {
  const found = gateways.flatMap((gateway) =>
    ofObject(gateway, context, () => listenersOf(gateway, context)),
  );
  return Map.groupBy(found, ({ owner }) => parentKey(owner));
}

/** Whether the Gateway's class is implemented by this controller. */
function isOwn(
  gateway: ManifestOf<"Gateway">,
  { inventory, diagnostics }: ReferenceContext,
): boolean {
  const name = gateway.spec?.gatewayClassName;
  const controller =
    name === undefined ? undefined : inventory.find("GatewayClass", "", name)?.spec?.controllerName;
  if (controller === undefined || CONTROLLERS.includes(controller)) return true;
  const params = { gateway: resourceName(gateway), controller };
  diagnostics.report(
    "foreign-gateway",
    childOf(gateway.origin, "spec", "gatewayClassName"),
    params,
  );
  return false;
}
