import path from "node:path";
import type { InputDigest } from "../1-parse/parse.ts";
import { backends } from "../backends/index.ts";
import type { ConnectionContext } from "../backends/parts/connection.ts";
import { followUpsOf, type MistakenInput } from "../config/broken-parts.ts";
import { frontendOfPort } from "../config/frontend.ts";
import { compareHostnames } from "../config/hostnames.ts";
import { resolveLevels } from "../config/log-levels.ts";
import type {
  GatewayResource,
  GatewayResources,
  ListenerResource,
  RouteResource,
  UnservedResources,
} from "../config/resources.ts";
import { reportIdle, SectionUse } from "../config/sections.ts";
import { Diagnostics, type Place, type WithDiagnostics } from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import type { InlinedPlaces } from "../diagnostics/inlined-places.ts";
import type { Host } from "../host.ts";
import type { BindNode, ListenerNode, Program, ProgramInput } from "../ir/program.ts";
import { Identifiers } from "../model/identifiers.ts";
import { type LiteralSecret, LiteralSecrets } from "../model/literal-secrets.ts";
import { policies } from "../policies/index.ts";
import { resolveAccessLog } from "./access-log.ts";
import { resolveAcme } from "./acme.ts";
import { bufferSizes } from "./buffer-sizes.ts";
import { type CachedResolutions, routeInputs } from "./cached-resolutions.ts";
import { checkCallerKeys } from "./caller-keys.ts";
import { capturedBodiesOf } from "./captured-bodies.ts";
import { connectionsOfPort, resolveAdmission } from "./connection-rules.ts";
import { GatewayFunctions } from "./gateway-functions.ts";
import { resolveKeysApi } from "./keys-api.ts";
import { certificateOf, checkVersions, ownHandshake, resolveTls } from "./listener-tls.ts";
import { checkListeners } from "./listeners.ts";
import { checkLoggedValues } from "./logged-values.ts";
import { resolveMetricLabels } from "./metric-labels.ts";
import { reportIdleCatalog, resolveModelCatalog } from "./model-catalog.ts";
import { checkPathRules } from "./path-handling.ts";
import { namedServer } from "./policies.ts";
import { effectiveRoutes, resolvePreRouting } from "./pre-routing.ts";
import { checkProxies, proxyProtocolOf } from "./proxied-ports.ts";
import {
  type ResolvedRoute,
  type RouteCache,
  type RouteContext,
  resolveHostnames,
  resolveRoute,
} from "./routes.ts";
import {
  reportPrecededPatterns,
  reportUnreachable,
  routingTable,
  type TableRoute,
} from "./routing-table.ts";
import { resolveStore, sharedStoreOf } from "./store.ts";
import { resolveTcpBinds } from "./tcp-binds.ts";
import { checkToolLocks } from "./tool-locks.ts";
import { checkViews } from "./tool-sets.ts";
import { resolveTracing } from "./tracing.ts";
import { checkUnserved } from "./unserved.ts";
import { resolveUsage, servesModels } from "./usage.ts";
import { checkUserConnections } from "./user-connections.ts";
import { resolveWorkloadApi } from "./workload-api.ts";

/** Input other than resources. */
export interface ResolveInput extends MistakenInput {
  readonly inputs: readonly InputDigest[];
  /** Folder to which file names in the configuration are relative. */
  readonly folder: string;
  /** Whether expressions of policies that fail safely may have mistakes. */
  readonly isTolerant?: boolean;
}

/** The declared resources, in one vocabulary. */
export interface Declared {
  readonly gateways: readonly GatewayResources[];
  readonly unserved: UnservedResources;
}

/** Resolved gateways, and the literal secrets that must not appear in their code. */
export interface Resolved {
  readonly programs: readonly Program[];
  readonly literals: readonly LiteralSecret[];
  /** Places of expressions that called functions of their Gateway. */
  readonly inlined: readonly InlinedPlaces[];
}

/** Resolves all references and returns programs that are ready to be emitted. */
export function resolve(
  { gateways, unserved }: Declared,
  input: ResolveInput,
  host: Host,
  cache?: CachedResolutions,
): WithDiagnostics<Resolved> {
  const diagnostics = new Diagnostics(followUpsOf(input), input.isTolerant);
  const literals = new LiteralSecrets();
  const sections = new SectionUse();
  const backends = new Map(
    gateways
      .flatMap(({ resources }) => resources)
      .flatMap((each) => (each.kind === "gateway" ? [...each.backends] : [])),
  );
  const lookup: ConnectionContext & Pick<RouteContext, "sections"> = {
    ...fileLookup(input, host, diagnostics),
    namedServer: (reference, own) => namedServer(reference, backends, own),
    literals,
    sections,
  };
  const functions = new GatewayFunctions();
  const programs = gateways.flatMap((given) => {
    const gateway = functions.without(given, diagnostics);
    const at = gateway.resources.find(({ kind }) => kind === "gateway")?.origin;
    if (at === undefined) return [];
    return guarded(at, diagnostics, () => resolveGateway(gateway, input, lookup, cache)) ?? [];
  });
  for (const idle of sections.idle()) reportIdle(idle, diagnostics);
  checkUnserved(unserved, lookup, cache?.checks);
  const inlined = functions.finish(diagnostics);
  return { value: { programs, literals: literals.list, inlined }, diagnostics: diagnostics.list };
}

function resolveGateway(
  { name, resources }: GatewayResources,
  { inputs }: ResolveInput,
  lookup: ConnectionContext & Pick<RouteContext, "sections">,
  cache: CachedResolutions | undefined,
): Program | undefined {
  const gateway = resources.find((resource) => resource.kind === "gateway");
  const routes = resources.filter((resource) => resource.kind === "route");
  if (gateway === undefined) return undefined;
  const { diagnostics, literals } = lookup;
  const context: RouteContext = {
    ...lookup,
    namedServer: (reference, own) => namedServer(reference, gateway.backends, own),
    hasIdentity: gateway.workloadApi !== undefined,
    names: new Identifiers(unitNames()),
    backends: gateway.backends,
    listeners: new Map(gateway.listeners.map((listener) => [listener.key, listener])),
    listenerNames: new Identifiers(unitNames(), "Listener"),
    modelPrices: resolveModelCatalog(gateway.modelCatalog, lookup),
    sharedStore: sharedStoreOf(gateway.store),
    usage: gateway.usage && { isForCallers: gateway.usage.isForCallers },
  };
  checkListeners(gateway, context);
  const frontends = [gateway.frontend, ...(gateway.portFrontends?.values() ?? [])];
  for (const { tls } of frontends) checkVersions(tls, diagnostics);
  checkProxies(gateway, diagnostics);
  const admissions = new Map(
    frontends.map((frontend) => [frontend, resolveAdmission(frontend, context)]),
  );
  const admission = (port: number) => admissions.get(frontendOfPort(gateway, port)) ?? [];
  const routeCache = cache && { resolutions: cache, from: routeInputs(gateway) };
  const binds = resolveBinds(gateway, routes, admission, context, routeCache);
  checkToolLocks(binds, diagnostics);
  checkViews(binds, diagnostics);
  checkUserConnections(binds, diagnostics);
  reportIdleCatalog(gateway, routes, diagnostics);
  const callsModels = binds.some(servesModels);
  const usage =
    gateway.usage && resolveUsage(gateway.usage, callsModels, keyHeaders(binds), diagnostics);
  const acme = resolveAcme(gateway, diagnostics);
  const store = resolveStore(name, gateway, binds, usage ?? acme, lookup);
  const tcp = resolveTcpBinds(
    gateway,
    resources.filter((resource) => resource.kind === "tcpRoute"),
    admission,
    context,
  );
  const keysApi = gateway.keysApi && resolveKeysApi(gateway.keysApi, { binds, tcp }, lookup);
  const traffic = {
    secretHeaders: keyHeaders(binds),
    hasConnections: tcp.length > 0,
    isTraced: gateway.tracing !== undefined,
    callsModels,
  };
  const destinations = (user: string) => ({
    ...context,
    user,
  });
  const accessLog = resolveAccessLog(gateway.accessLogs, traffic, destinations("accessLog"));
  const tracing =
    gateway.tracing && resolveTracing(gateway.tracing, traffic, destinations("tracing"));
  const metricLabels = resolveMetricLabels(
    gateway.frontend.metricLabels,
    traffic.secretHeaders,
    diagnostics,
  );
  checkLoggedValues(gateway, routes, context);
  const capturedBodies = capturedBodiesOf(accessLog, tracing, metricLabels);
  const logLevels = resolveLevels(gateway.logLevels, diagnostics);
  if (
    accessLog !== undefined &&
    logLevels !== undefined &&
    !REQUEST_LEVELS.has(logLevels.request)
  ) {
    diagnostics.report("lines-not-written", accessLog.filterOrigin, { level: logLevels.request });
  }
  const program: Program = {
    name,
    inputs: inputs
      .map((file) => programInput(file, literals))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    binds,
    tcp,
    process: gateway.process,
    connections: gateway.frontend.connections,
    ...bufferSizes(gateway),
    ...(accessLog === undefined ? {} : { accessLog }),
    ...(metricLabels === undefined ? {} : { metricLabels }),
    ...(capturedBodies === undefined ? {} : { capturedBodies }),
    ...(gateway.frontend.requestId !== undefined && { requestId: gateway.frontend.requestId }),
    ...(tracing === undefined ? {} : { tracing }),
    ...(logLevels === undefined ? {} : { logLevels }),
    ...(acme === undefined ? {} : { acme }),
    ...(store === undefined ? {} : { store }),
    ...(usage === undefined ? {} : { usage }),
    ...(keysApi === undefined ? {} : { keysApi }),
    ...(gateway.mesh === undefined ? {} : { mesh: gateway.mesh }),
    ...(gateway.deployment === undefined ? {} : { deployment: gateway.deployment }),
  };
  return { ...program, ...resolveWorkloadApi(gateway.workloadApi, program, diagnostics) };
}

/** Log levels at which access lines are written. */
const REQUEST_LEVELS: ReadonlySet<string> = new Set(["info", "debug", "trace"]);

/**
 * Returns an input whose digest is computed on first use: a check needs none, and it costs as much as checking a
 * small file.
 */
function programInput({ name, sha256 }: InputDigest, literals: LiteralSecrets): ProgramInput {
  return {
    name,
    get sha256() {
      return sha256(literals.list.map(({ at }) => at));
    },
  };
}

/** Returns the services to find files that the configuration names. */
function fileLookup(
  { folder }: ResolveInput,
  host: Host,
  diagnostics: Diagnostics,
): Omit<ConnectionContext, "literals" | "sections" | "namedServer"> {
  const resolvePath: ConnectionContext["resolvePath"] = (file, at) =>
    existingPath(file, at, folder, { host, diagnostics });
  return { host, diagnostics, resolvePath };
}

/** Returns the names that the generated code of policies and backends declares. */
function unitNames(): readonly string[] {
  const ofPolicies = policies.flatMap(({ names = [], access }) => [
    ...names,
    access?.identity ?? [],
  ]);
  return [...ofPolicies.flat(), ...backends.flatMap(({ names = [] }) => names)];
}

/**
 * Returns the path of a file that the configuration names, relative to the configuration's folder; or relative to
 * the working directory, with a note, if it only exists there.
 */
function existingPath(
  file: string,
  at: Place,
  folder: string,
  { host, diagnostics }: Pick<RouteContext, "host" | "diagnostics">,
): string {
  const inFolder = path.isAbsolute(file) ? file : path.join(folder, file);
  if (path.resolve(inFolder) === path.resolve(file)) return inFolder;
  if (host.readText(inFolder).kind === "text" || host.readText(file).kind !== "text")
    return inFolder;
  diagnostics.report("path-elsewhere", at, { file, found: inFolder });
  return file;
}

/** Returns the headers that contain credentials. */
function keyHeaders(binds: readonly BindNode[]): readonly string[] {
  const listeners = binds.flatMap((bind) => bind.listeners);
  const places = listeners.flatMap(({ preRouting, routes }) => [preRouting ?? [], routes]).flat();
  return places.flatMap(({ policies }) =>
    policies.flatMap(({ settings }) =>
      "location" in settings && "header" in settings.location ? [settings.location.header] : [],
    ),
  );
}

function resolveBinds(
  gateway: GatewayResource,
  routes: readonly RouteResource[],
  admission: (port: number) => ListenerNode["admission"],
  context: RouteContext,
  cache: RouteCache | undefined,
): readonly BindNode[] {
  const byListener = Map.groupBy(
    routes.flatMap((route) => route.listeners.map((attachment) => ({ ...attachment, route }))),
    ({ listener }) => listener,
  );
  const resolved = new Map<RouteResource, ResolvedRoute | undefined>();
  const resolveOnce = (route: RouteResource): ResolvedRoute | undefined => {
    if (resolved.has(route)) return resolved.get(route);
    const found = guarded(route.origin, context.diagnostics, () =>
      resolveRoute(route, context, cache),
    );
    resolved.set(route, found);
    return found;
  };
  const byPort = Map.groupBy(
    gateway.listeners.filter(({ protocol }) => protocol === "HTTP" || protocol === "HTTPS"),
    (listener) => listener.port,
  );
  const binds = [...byPort.entries()].map(([port, listeners]) => {
    const sorted = listeners.toSorted((a, b) => compareHostnames(a.hostname, b.hostname));
    const { tls: shared } = frontendOfPort(gateway, port);
    const nodes = resolveTls(sorted, shared, shared.alpn, context.diagnostics);
    const served = listeners
      .flatMap(
        (listener) =>
          guarded(listener.origin, context.diagnostics, () => {
            const attached = byListener.get(listener.key) ?? [];
            const preRouting = resolvePreRouting(listener, attached, context);
            const own = effectiveRoutes(listener, attached, context).flatMap(
              ({ route, hostnames }) => {
                const names = resolveHostnames(hostnames, listener, route, context);
                const one = names.length === 0 ? undefined : resolveOnce(route);
                return one === undefined ? [] : [{ ...one, hostnames: names }];
              },
            );
            const resolved = {
              ...resolveListener(listener, own, context),
              ...ownHandshake(listener, nodes),
              admission: admission(port),
              preRouting,
            };
            checkPathRules(resolved, context.diagnostics);
            checkCallerKeys(resolved, context.diagnostics);
            return resolved;
          }) ?? [],
      )
      .sort((a, b) => compareHostnames(a.hostname, b.hostname));
    return {
      port,
      address: listeners[0]?.address,
      proxyProtocol: proxyProtocolOf(listeners, gateway),
      ...connectionsOfPort(port, gateway),
      origin: listeners[0]?.portOrigin ?? gateway.origin,
      tls: nodes.tls,
      listeners: served,
      hostnames: hostnamesOf(served, connectionHostnames(port, gateway)),
    };
  });
  const all = binds.flatMap(({ listeners }) => listeners);
  reportUnreachable(all, context.diagnostics);
  reportPrecededPatterns(all, context.diagnostics);
  return binds;
}

/** Returns the hostnames of TCP routes on a port. */
function connectionHostnames(port: number, { listeners }: GatewayResource): readonly string[] {
  return listeners
    .filter((each) => each.port === port && each.protocol === "TLS")
    .map(({ hostname }) => hostname);
}

function hostnamesOf(
  listeners: readonly ListenerNode[],
  ofConnections: readonly string[],
): BindNode["hostnames"] {
  return [
    ...listeners.map(({ hostname, id }) => ({ hostname, listener: id })),
    ...ofConnections.map((hostname) => ({ hostname, listener: undefined })),
  ].sort((a, b) => compareHostnames(a.hostname, b.hostname));
}

function resolveListener(
  listener: ListenerResource,
  routes: readonly TableRoute[],
  { diagnostics, listenerNames }: RouteContext,
): Omit<ListenerNode, "admission" | "preRouting" | "handshake"> {
  return {
    id: listenerNames.take(listener.name),
    name: listener.name,
    hostname: listener.hostname,
    tls: certificateOf(listener),
    pathHandling: listener.pathHandling?.value ?? "canonical",
    routes: routes.map(({ route }) => route),
    table: routingTable(routes, listener.hostname, diagnostics),
    origin: listener.origin,
  };
}
