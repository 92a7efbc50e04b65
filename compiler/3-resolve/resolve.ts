import path from "node:path";
import type { Parsed } from "../1-parse/parse.ts";
import {
  type KubernetesGateway,
  type KubernetesModel,
  lowerKubernetes,
  resourcesOf,
} from "../2-lower/kubernetes/gateway/gateways.ts";
import { resolveLevels } from "../config/log-levels.ts";
import type {
  GatewayResource,
  ListenerResource,
  Resource,
  RouteResource,
} from "../config/resources.ts";
import { Diagnostics, type WithDiagnostics } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host.ts";
import { Identifiers } from "../ir/identifiers.ts";
import type { BindNode, ListenerNode, Program } from "../ir/program.ts";
import { reservedNames } from "../policies/index.ts";
import { resolveAccessLog } from "./access-log.ts";
import { compareHostnames } from "./hostnames.ts";
import { certificateOf, resolveTls } from "./listener-tls.ts";
import { checkListeners } from "./listeners.ts";
import { effectiveRoutes, resolvePreRouting } from "./pre-routing.ts";
import { type ResolvedRoute, type RouteContext, resolveHostnames, resolveRoute } from "./routes.ts";
import { routingTable, type TableRoute } from "./routing-table.ts";
import { resolveTcpBinds } from "./tcp-binds.ts";

/** What is asked of a resolution. */
export interface ResolveOptions {
  /** What a gateway is called that has no name in its configuration. */
  readonly name: string;
  /** NAMESPACE/NAME of the one Gateway that is wanted, of manifests with several. */
  readonly gateway?: string | undefined;
  /** Several Gateways are a mistake: one process serves one. */
  readonly isSingle?: boolean;
}

/** What looking everything up gives. */
export interface Resolved {
  /** The gateways of the input: one for a standalone file, any number for manifests. */
  readonly programs: readonly Program[];
  /** What is known of the manifests, for who asks about them rather than compiling them. */
  readonly kubernetes: KubernetesModel | undefined;
}

/** Looks everything up: programs with nothing left to decide but how to write them down. */
export function resolve(
  parsed: Parsed,
  options: ResolveOptions,
  host: Host,
): WithDiagnostics<Resolved> {
  const diagnostics = new Diagnostics();
  if (parsed.manifests === undefined) {
    const name = gatewayName(parsed.resources) ?? options.name;
    const program = resolveGateway(parsed, parsed.resources, name, host, diagnostics);
    const programs = program === undefined ? [] : [program];
    return { value: { programs, kubernetes: undefined }, diagnostics: diagnostics.list };
  }
  const kubernetes = lowerKubernetes(parsed.manifests, { diagnostics });
  const wanted = wantedGateways(kubernetes, options, parsed, diagnostics);
  const programs = wanted.flatMap((each) => {
    const name = bundleName(each, kubernetes);
    return resolveGateway(parsed, resourcesOf(each), name, host, diagnostics) ?? [];
  });
  return { value: { programs, kubernetes }, diagnostics: diagnostics.list };
}

function wantedGateways(
  { gateways }: KubernetesModel,
  { gateway: wanted, isSingle }: ResolveOptions,
  { files }: Parsed,
  diagnostics: Diagnostics,
): readonly KubernetesGateway[] {
  const found = gateways.filter(
    ({ manifest: { namespace, name } }) =>
      wanted === undefined || wanted === `${namespace}/${name}` || wanted === name,
  );
  const at = { file: files[0]?.name ?? "", document: 0, path: [], part: "file" } as const;
  if (found.length > 1 && isSingle === true) {
    const names = found.map(({ manifest: { namespace, name } }) => `${namespace}/${name}`);
    diagnostics.report("several-gateways", at, { names });
  }
  if (found.length === 0) diagnostics.report("no-gateway", at, { found: wanted });
  return found;
}

/** What a standalone file calls its gateway, if it does. */
function gatewayName(resources: readonly Resource[]): string | undefined {
  return resources.find(({ kind }) => kind === "gateway")?.name;
}

/** A Gateway's name, with its namespace when another one has the same. */
function bundleName(
  { manifest: { namespace, name } }: KubernetesGateway,
  { gateways }: KubernetesModel,
): string {
  const isUnique = gateways.filter((each) => each.manifest.name === name).length === 1;
  return isUnique ? name : `${namespace}-${name}`;
}

function resolveGateway(
  { files, inputs }: Parsed,
  resources: readonly Resource[],
  name: string,
  host: Host,
  diagnostics: Diagnostics,
): Program | undefined {
  const gateway = resources.find((resource) => resource.kind === "gateway");
  const routes = resources.filter((resource) => resource.kind === "route");
  if (gateway === undefined) return undefined;
  const folder = path.dirname(files[0]?.path ?? ".");
  const context: RouteContext = {
    host,
    diagnostics,
    names: new Identifiers(reservedNames),
    backends: gateway.backends,
    listeners: new Map(gateway.listeners.map((listener) => [listener.key, listener])),
    listenerNames: new Identifiers(reservedNames),
    resolvePath: (file) => (path.isAbsolute(file) ? file : path.join(folder, file)),
  };
  checkListeners(gateway, context);
  const binds = resolveBinds(gateway, routes, context);
  const tcp = resolveTcpBinds(
    gateway,
    resources.filter((resource) => resource.kind === "tcpRoute"),
    context,
  );
  const traffic = { secretHeaders: keyHeaders(binds), hasConnections: tcp.length > 0 };
  const accessLog = resolveAccessLog(gateway.accessLogs, traffic, diagnostics);
  const logLevels = resolveLevels(gateway.logLevels, diagnostics);
  return {
    name,
    inputs: inputs.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    binds,
    tcp,
    process: gateway.process,
    connections: gateway.frontend.connections,
    maxBufferSize: gateway.frontend.maxBufferSize,
    ...(accessLog === undefined ? {} : { accessLog }),
    ...(logLevels === undefined ? {} : { logLevels }),
    ...(gateway.deployment === undefined ? {} : { deployment: gateway.deployment }),
  };
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
  context: RouteContext,
): readonly BindNode[] {
  const byListener = Map.groupBy(
    routes.flatMap((route) => route.listeners.map((attachment) => ({ ...attachment, route }))),
    ({ listener }) => listener,
  );
  const resolved = new Map<RouteResource, ResolvedRoute>();
  const resolveOnce = (route: RouteResource): ResolvedRoute => {
    const known = resolved.get(route) ?? resolveRoute(route, context);
    resolved.set(route, known);
    return known;
  };
  const byPort = Map.groupBy(
    gateway.listeners.filter(({ protocol }) => protocol === "HTTP" || protocol === "HTTPS"),
    (listener) => listener.port,
  );
  return [...byPort.entries()].map(([port, listeners]) => ({
    port,
    origin: listeners[0]?.portOrigin ?? gateway.origin,
    tls: resolveTls(listeners, gateway.frontend.tls, context.diagnostics),
    listeners: listeners
      .map((listener) => {
        const attached = byListener.get(listener.key) ?? [];
        const preRouting = resolvePreRouting(listener, attached, context);
        const own = effectiveRoutes(listener, attached, context).flatMap(({ route, hostnames }) => {
          const names = resolveHostnames(hostnames, listener, route, context);
          return names.length === 0 ? [] : [{ ...resolveOnce(route), hostnames: names }];
        });
        return { ...resolveListener(listener, own, context), preRouting };
      })
      .sort((a, b) => compareHostnames(a.hostname, b.hostname)),
  }));
}

function resolveListener(
  listener: ListenerResource,
  routes: readonly TableRoute[],
  { diagnostics, listenerNames }: RouteContext,
): Omit<ListenerNode, "preRouting"> {
  return {
    id: listenerNames.take(listener.name),
    name: listener.name,
    hostname: listener.hostname,
    tls: certificateOf(listener),
    routes: routes.map(({ route }) => route),
    table: routingTable(routes, listener.hostname, diagnostics),
    origin: listener.origin,
  };
}
