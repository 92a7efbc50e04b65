import path from "node:path";
import type { InputDigest } from "../1-parse/parse.ts";
import { backends } from "../backends/index.ts";
import type { ConnectionContext } from "../backends/parts/connection.ts";
import { isAboutBroken } from "../config/broken-parts.ts";
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
import {
  type ConfigPath,
  Diagnostics,
  type Origin,
  type Place,
  type WithDiagnostics,
} from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import type { Host } from "../host.ts";
import type { BindNode, ListenerNode, Program, ProgramInput } from "../ir/program.ts";
import { Identifiers } from "../model/identifiers.ts";
import { type LiteralSecret, LiteralSecrets } from "../model/literal-secrets.ts";
import { policies } from "../policies/index.ts";
import { resolveAccessLog } from "./access-log.ts";
import { checkCallerKeys } from "./caller-keys.ts";
import { resolveConnectionRules } from "./connection-rules.ts";
import type { KeptResolutions } from "./kept-resolutions.ts";
import { certificateOf, checkVersions, ownHandshake, resolveTls } from "./listener-tls.ts";
import { checkListeners } from "./listeners.ts";
import { checkPathRules } from "./path-handling.ts";
import { namedServer } from "./policies.ts";
import { effectiveRoutes, resolvePreRouting } from "./pre-routing.ts";
import { checkProxies, proxyProtocolOf } from "./proxied-ports.ts";
import { type ResolvedRoute, type RouteContext, resolveHostnames, resolveRoute } from "./routes.ts";
import { routingTable, type TableRoute } from "./routing-table.ts";
import { resolveTcpBinds } from "./tcp-binds.ts";
import { checkToolLocks } from "./tool-locks.ts";
import { resolveTracing } from "./tracing.ts";
import { checkUnserved } from "./unserved.ts";

/** What the input is besides its resources. */
export interface ResolveInput {
  readonly inputs: readonly InputDigest[];
  /** The folder that file names of the configuration start from. */
  readonly folder: string;
  /** Where a standalone file starts, and the paths of its parts that were removed or replaced. */
  readonly origin?: Origin;
  readonly broken?: readonly ConfigPath[];
}

/** What was declared, in one vocabulary. */
export interface Declared {
  readonly gateways: readonly GatewayResources[];
  readonly unserved: UnservedResources;
}

/** Gateways, complete, and what no text of them may hold. */
export interface Resolved {
  readonly programs: readonly Program[];
  readonly literals: readonly LiteralSecret[];
}

/** Looks everything up: programs with nothing left to decide but how to write them down. */
export function resolve(
  { gateways, unserved }: Declared,
  input: ResolveInput,
  host: Host,
  kept?: KeptResolutions,
): WithDiagnostics<Resolved> {
  const diagnostics = new Diagnostics((found) => isAboutBroken(found, input));
  const literals = new LiteralSecrets();
  const sections = new SectionUse();
  const lookup = { ...fileLookup(input, host, diagnostics), literals, sections };
  const programs = gateways.flatMap((gateway) => {
    const at = gateway.resources.find(({ kind }) => kind === "gateway")?.origin;
    if (at === undefined) return [];
    return guarded(at, diagnostics, () => resolveGateway(gateway, input, lookup, kept)) ?? [];
  });
  for (const idle of sections.idle()) reportIdle(idle, diagnostics);
  checkUnserved(unserved, lookup);
  return { value: { programs, literals: literals.list }, diagnostics: diagnostics.list };
}

function resolveGateway(
  { name, resources }: GatewayResources,
  { inputs }: ResolveInput,
  lookup: ConnectionContext & Pick<RouteContext, "sections">,
  kept: KeptResolutions | undefined,
): Program | undefined {
  const gateway = resources.find((resource) => resource.kind === "gateway");
  const routes = resources.filter((resource) => resource.kind === "route");
  if (gateway === undefined) return undefined;
  const { diagnostics, literals } = lookup;
  const context: RouteContext = {
    ...lookup,
    names: new Identifiers(unitNames()),
    backends: gateway.backends,
    listeners: new Map(gateway.listeners.map((listener) => [listener.key, listener])),
    listenerNames: new Identifiers(unitNames(), "Listener"),
  };
  checkListeners(gateway, context);
  checkVersions(gateway.frontend.tls, diagnostics);
  checkProxies(gateway, diagnostics);
  const connectionRules = resolveConnectionRules(gateway, context);
  const admission = connectionRules === undefined ? [] : [connectionRules];
  const binds = resolveBinds(gateway, routes, admission, context, kept);
  checkToolLocks(binds, diagnostics);
  const tcp = resolveTcpBinds(
    gateway,
    resources.filter((resource) => resource.kind === "tcpRoute"),
    admission,
    context,
  );
  const traffic = {
    secretHeaders: keyHeaders(binds),
    hasConnections: tcp.length > 0,
    isTraced: gateway.tracing !== undefined,
  };
  const destinations = (user: string) => ({
    ...context,
    namedServer: (backend: string, at: Origin) => namedServer(user, backend, at, context),
  });
  const accessLog = resolveAccessLog(gateway.accessLogs, traffic, destinations("accessLog"));
  const tracing =
    gateway.tracing &&
    resolveTracing(gateway.tracing, traffic.secretHeaders, destinations("tracing"));
  const logLevels = resolveLevels(gateway.logLevels, diagnostics);
  if (
    accessLog !== undefined &&
    logLevels !== undefined &&
    !REQUEST_LEVELS.has(logLevels.request)
  ) {
    diagnostics.report("lines-not-written", accessLog.filterOrigin, { level: logLevels.request });
  }
  return {
    name,
    inputs: inputs
      .map((file) => programInput(file, literals))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    binds,
    tcp,
    ...(connectionRules === undefined ? {} : { connectionRules }),
    process: gateway.process,
    connections: gateway.frontend.connections,
    // What does not fit into the whole of it never will.
    maxBufferSize: Math.min(
      gateway.frontend.maxBufferSize,
      gateway.process.maxBufferedBytes ?? Number.POSITIVE_INFINITY,
    ),
    ...(accessLog === undefined ? {} : { accessLog }),
    ...(gateway.frontend.requestId !== undefined && { requestId: gateway.frontend.requestId }),
    ...(tracing === undefined ? {} : { tracing }),
    ...(logLevels === undefined ? {} : { logLevels }),
    ...(gateway.mesh === undefined ? {} : { mesh: gateway.mesh }),
    ...(gateway.deployment === undefined ? {} : { deployment: gateway.deployment }),
  };
}

/** The levels at which requests have lines. */
const REQUEST_LEVELS: ReadonlySet<string> = new Set(["info", "debug", "trace"]);

/** The digest is made when somebody reads it: a check needs none, and it costs as much as checking a small file. */
function programInput({ name, sha256 }: InputDigest, literals: LiteralSecrets): ProgramInput {
  return {
    name,
    get sha256() {
      return sha256(literals.list.map(({ at }) => at));
    },
  };
}

/** How files are found that the configuration names. */
function fileLookup(
  { folder }: ResolveInput,
  host: Host,
  diagnostics: Diagnostics,
): Omit<ConnectionContext, "literals" | "sections"> {
  const resolvePath: ConnectionContext["resolvePath"] = (file, at) =>
    existingPath(file, at, folder, { host, diagnostics });
  return { host, diagnostics, resolvePath };
}

/** The names that the code of policies and backends declares in generated modules. */
function unitNames(): readonly string[] {
  const ofPolicies = policies.flatMap(({ names = [], identity }) => [...names, identity ?? []]);
  return [...ofPolicies.flat(), ...backends.flatMap(({ names = [] }) => names)];
}

/**
 * The path of a file that a configuration names: from the configuration's folder; from the working directory, with a
 * note, when it is only there.
 */
function existingPath(
  file: string,
  at: Place,
  folder: string,
  { host, diagnostics }: Pick<RouteContext, "host" | "diagnostics">,
): string {
  const beside = path.isAbsolute(file) ? file : path.join(folder, file);
  if (path.resolve(beside) === path.resolve(file)) return beside;
  if (host.readText(beside).kind === "text" || host.readText(file).kind !== "text") return beside;
  diagnostics.report("path-elsewhere", at, { file, beside });
  return file;
}

/** The headers that credentials stand in. */
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
  admission: ListenerNode["admission"],
  context: RouteContext,
  kept: KeptResolutions | undefined,
): readonly BindNode[] {
  const byListener = Map.groupBy(
    routes.flatMap((route) => route.listeners.map((attachment) => ({ ...attachment, route }))),
    ({ listener }) => listener,
  );
  const resolved = new Map<RouteResource, ResolvedRoute | undefined>();
  const resolveOnce = (route: RouteResource): ResolvedRoute | undefined => {
    if (resolved.has(route)) return resolved.get(route);
    const found = guarded(route.origin, context.diagnostics, () =>
      resolveRoute(route, context, kept),
    );
    resolved.set(route, found);
    return found;
  };
  const byPort = Map.groupBy(
    gateway.listeners.filter(({ protocol }) => protocol === "HTTP" || protocol === "HTTPS"),
    (listener) => listener.port,
  );
  const { tls: shared } = gateway.frontend;
  return [...byPort.entries()].map(([port, listeners]) => {
    const sorted = listeners.toSorted((a, b) => compareHostnames(a.hostname, b.hostname));
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
              admission,
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
      origin: listeners[0]?.portOrigin ?? gateway.origin,
      tls: nodes.tls,
      listeners: served,
      hostnames: hostnamesOf(served, connectionHostnames(port, gateway)),
    };
  });
}

/** The hostnames of a port whose connections are passed on. */
function connectionHostnames(port: number, { listeners }: GatewayResource): readonly string[] {
  return listeners
    .filter((each) => each.port === port && each.protocol === "TLS")
    .map(({ hostname }) => hostname);
}

function hostnamesOf(
  listeners: readonly ListenerNode[],
  passedOn: readonly string[],
): BindNode["hostnames"] {
  return [
    ...listeners.map(({ hostname, id }) => ({ hostname, listener: id })),
    ...passedOn.map((hostname) => ({ hostname, listener: undefined })),
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
