import type { ConfigValue } from "../../1-parse/values.ts";
import type { CipherSuite } from "../../config/frontend.ts";
import type {
  GatewayResource,
  ListenerResource,
  ListenerTlsResource,
  MatchConfig,
  Resource,
  RouteResource,
  TcpRouteResource,
  ValueMatchConfig,
} from "../../config/resources.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import { readAccessLogs, readLogLevels } from "./access-log.ts";
import { readBackendPolicies } from "./backend-policies.ts";
import {
  type FrontendValue,
  readFrontend,
  readTlsVersion,
  type TlsVersionValue,
} from "./frontend.ts";
import { type ProcessConfig, readProcess } from "./process.ts";
import {
  type BackendReading,
  readBackend,
  readNamedBackends,
  readPolicies,
} from "./route-parts.ts";
import { checkRouteField, readTcpRoute, type TcpRouteConfig } from "./tcp-routes.ts";

/** The resources of a validated standalone file; a policy that is given twice is reported. */
export function readStandalone(
  value: unknown,
  origin: Origin,
  diagnostics: Diagnostics,
): readonly Resource[] {
  // The schema has checked the shape.
  const file = value as FileConfig;
  const listeners: ListenerResource[] = [];
  const routes: (RouteResource | TcpRouteResource)[] = [];
  const backends = readNamedBackends(file.backends ?? [], childOf(origin, "backends"), diagnostics);
  const reading = { named: backends, diagnostics };
  file.binds.forEach((bind, bindIndex) => {
    bind.listeners.forEach((listener, listenerIndex) => {
      const at = childOf(origin, "binds", bindIndex, "listeners", listenerIndex);
      const key = `${bindIndex}/${listenerIndex}`;
      const portOrigin = childOf(origin, "binds", bindIndex, "port");
      listeners.push({
        ...readListener(listener, key, bind.port, portOrigin, at),
        policies: readPolicies(listener.policies ?? {}, childOf(at, "policies"), diagnostics),
      });
      listener.routes?.forEach((route, index) => {
        routes.push(readRoute(route, key, childOf(at, "routes", index), reading));
      });
      listener.tcpRoutes?.forEach((route, index) => {
        routes.push(readTcpRoute(route, key, childOf(at, "tcpRoutes", index), diagnostics));
      });
      checkRouteField(listener, at, diagnostics);
    });
  });
  const gateway: GatewayResource = {
    kind: "gateway",
    name: file.name,
    process: readProcess(file.config),
    frontend: readFrontend(file.frontendPolicies, origin),
    accessLogs: readAccessLogs(file.config?.logging, file.frontendPolicies, origin),
    logLevels: readLogLevels(file.config?.logging, childOf(origin, "config", "logging")),
    backends,
    listeners,
    origin,
  };
  return [gateway, ...routes];
}

/** The file as the schema has let it through. */
interface FileConfig {
  readonly name?: string;
  readonly config?: ProcessConfig;
  readonly frontendPolicies?: FrontendValue;
  readonly backends?: readonly Readonly<Record<string, ConfigValue>>[];
  readonly binds: readonly {
    readonly port: number;
    readonly listeners: readonly ListenerConfig[];
  }[];
}

interface ListenerConfig {
  readonly name?: string;
  readonly hostname?: string;
  readonly protocol?: ListenerResource["protocol"];
  readonly tls?: ListenerTlsConfig;
  readonly policies?: Readonly<Record<string, ConfigValue>>;
  readonly routes?: readonly RouteConfig[];
  readonly tcpRoutes?: readonly TcpRouteConfig[];
}

interface ListenerTlsConfig {
  readonly cert: string;
  readonly key: string;
  readonly root?: string;
  readonly minTLSVersion?: TlsVersionValue;
  readonly maxTLSVersion?: TlsVersionValue;
  readonly cipherSuites?: readonly CipherSuite[];
}

interface RouteConfig {
  readonly name?: string;
  readonly hostnames?: readonly string[];
  readonly matches?: readonly MatchValue[];
  readonly policies?: Readonly<Record<string, ConfigValue>>;
  readonly backends?: readonly Readonly<Record<string, ConfigValue>>[];
}

interface MatchValue {
  readonly path?: {
    readonly exact?: string;
    readonly pathPrefix?: string;
    readonly regex?: string;
  };
  readonly method?: string;
  readonly headers?: readonly ValueMatchValue[];
  readonly query?: readonly ValueMatchValue[];
}

interface ValueMatchValue {
  readonly name: string;
  readonly value: { readonly exact?: string; readonly regex?: string };
}

function readListener(
  listener: ListenerConfig,
  key: string,
  port: number,
  portOrigin: Origin,
  origin: Origin,
): Omit<ListenerResource, "policies"> {
  const hostname = listener.hostname ?? "*";
  return {
    key,
    name: listener.name ?? (hostname === "*" ? `port-${port}` : hostname),
    port,
    portOrigin,
    hostname,
    protocol: listener.protocol ?? "HTTP",
    tls: listener.tls && readListenerTls(listener.tls),
    origin,
  };
}

function readListenerTls(tls: ListenerTlsConfig): ListenerTlsResource {
  return {
    cert: tls.cert,
    key: tls.key,
    root: tls.root,
    minVersion: readTlsVersion(tls.minTLSVersion),
    maxVersion: readTlsVersion(tls.maxTLSVersion),
    cipherSuites: tls.cipherSuites,
  };
}

function readRoute(
  route: RouteConfig,
  listener: string,
  origin: Origin,
  reading: BackendReading,
): RouteResource {
  const matches = route.matches?.map((match, index) =>
    readMatch(match, childOf(origin, "matches", index)),
  );
  return {
    kind: "route",
    name: route.name,
    listeners: [{ listener, hostnames: route.hostnames ?? [] }],
    matches: matches ?? [readMatch({}, origin)],
    policies: readPolicies(route.policies ?? {}, childOf(origin, "policies"), reading.diagnostics),
    backends: (route.backends ?? []).flatMap((backend, index) => {
      const ofRoute = readBackendPolicies(route.policies, childOf(origin, "policies"));
      return readBackend(backend, ofRoute, childOf(origin, "backends", index), reading) ?? [];
    }),
    origin,
  };
}

function readMatch(match: MatchValue, origin: Origin): MatchConfig {
  const { exact, pathPrefix, regex } = match.path ?? {};
  return {
    path:
      exact !== undefined
        ? { kind: "exact", value: exact }
        : regex !== undefined
          ? { kind: "regex", value: regex }
          : { kind: "prefix", value: pathPrefix ?? "/" },
    method: match.method,
    headers: (match.headers ?? []).map((each, index) =>
      readValueMatch({ ...each, name: each.name.toLowerCase() }, childOf(origin, "headers", index)),
    ),
    query: (match.query ?? []).map((each, index) =>
      readValueMatch(each, childOf(origin, "query", index)),
    ),
    origin,
  };
}

function readValueMatch({ name, value }: ValueMatchValue, origin: Origin): ValueMatchConfig {
  const kind = value.regex === undefined ? "exact" : "regex";
  return { name, kind, value: value[kind] ?? "", origin: childOf(origin, "value", kind) };
}
