import type { TlsVersion } from "../../../runtime/tls/tls-settings.ts";
import type { FrontendValue } from "../../1-parse/standalone/frontend.ts";
import type { ProcessValue } from "../../1-parse/standalone/process.ts";
import { lowerExpressions } from "../../backends/parts/named-expressions.ts";
import {
  alpnSections,
  defaultFrontend,
  dividedAlpn,
  FRONTEND_TRAFFIC,
  type FrontendConfig,
  type FrontendTlsConfig,
} from "../../config/frontend.ts";
import { readProxyProtocol } from "../../config/proxy-protocol.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Section } from "../../model/traffic.ts";
import { readConnectionCheck } from "../../policies/connection-check.ts";
import { readConnectionRules } from "../../policies/connection-rules.ts";
import { parseTimer } from "../../schema/duration.ts";
import { readKeepAlive } from "../../schema/keep-alive.ts";

type HttpValue = Omit<NonNullable<FrontendValue["http"]>, "http1HeaderCase"> & {
  readonly http1HeaderCase?: "preserve" | "Preserve" | "lowercase" | "Lowercase";
};
type TlsValue = NonNullable<FrontendValue["tls"]>;
type TcpValue = NonNullable<FrontendValue["tcp"]>;

/** Parts of a file with settings of the frontend. */
export interface FrontendParts {
  readonly frontendPolicies?: FrontendValue;
  readonly config?: Pick<ProcessValue, "metrics">;
}

/** Merges the settings of a file field by field over `rest`; `origin` is that of the file. */
export function readFrontend(
  { frontendPolicies: value = {}, config }: FrontendParts,
  origin: Origin,
  rest: FrontendConfig = defaultFrontend(origin),
): FrontendConfig {
  const { http = {}, tcp = {}, tls = {}, requestId, proxyProtocol, proxy } = value;
  const { networkAuthorization: rules, networkExtAuthz: check } = value;
  const merged = readTcp(tcp, readHttp(http, rest));
  const at = (field: string) => childOf(origin, "frontendPolicies", field);
  const labels = [
    ...lowerExpressions(config?.metrics?.fields?.add, childOf(origin, ...PROCESS_LABELS)),
    ...lowerExpressions(value.metrics?.add, childOf(at("metrics"), "add")),
  ];
  return {
    ...merged,
    ...(proxyProtocol && { proxyProtocol: readProxyProtocol(proxyProtocol, at("proxyProtocol")) }),
    ...(proxy && { proxyProtocol: readProxyProtocol(proxy, at("proxy")) }),
    ...(rules && { connectionRules: readConnectionRules(rules, at("networkAuthorization")) }),
    ...(check && { connectionCheck: readConnectionCheck(check, at("networkExtAuthz")) }),
    ...(requestId && { requestId: (requestId.header ?? "x-request-id").toLowerCase() }),
    tls: readTls(tls, at("tls"), rest.tls),
    // Later labels replace those of the same name.
    metricLabels:
      labels.length === 0
        ? rest.metricLabels
        : [...new Map(labels.map((label) => [label.name, label])).values()],
  };
}

const PROCESS_LABELS = ["config", "metrics", "fields", "add"] as const;

/** Returns the labels of metrics in `config`, as a section; an empty list without any. */
export function processLabelSections(
  config: FrontendParts["config"],
  origin: Origin,
): readonly Section[] {
  if (config?.metrics?.fields === undefined) return [];
  const at = childOf(origin, "config", "metrics", "fields");
  return [{ name: "metrics", actsOn: FRONTEND_TRAFFIC.metrics ?? [], origin: at }];
}

/** Returns the case of header names; the one of `rest` if it is not configured. */
function headerCaseOf(
  { http1HeaderCase: given }: HttpValue,
  rest: true | undefined,
): Pick<FrontendConfig["connections"], "lowercasesNames"> {
  const lowercasesNames = given === undefined ? rest : given.toLowerCase() === "lowercase";
  return lowercasesNames === true ? { lowercasesNames } : {};
}

/** Merges HTTP settings over `rest`. */
export function readHttp(http: HttpValue, rest: FrontendConfig): FrontendConfig {
  const { lowercasesNames, ...connections } = rest.connections;
  const { http2 } = connections;
  const interval = http.http2KeepaliveInterval;
  const duration = http.maxConnectionDuration;
  return {
    ...rest,
    maxBufferSize: http.maxBufferSize ?? rest.maxBufferSize,
    connections: {
      ...connections,
      maxHeaders: http.http1MaxHeaders ?? connections.maxHeaders,
      minBodyRate: http.minRequestBodyRate ?? connections.minBodyRate,
      idleTimeout: time(http.http1IdleTimeout, connections.idleTimeout),
      ...(duration === undefined ? {} : { maxDuration: time(duration, 0) }),
      ...headerCaseOf(http, lowercasesNames),
      http2: {
        ...http2,
        windowSize: Math.min(http.http2WindowSize ?? http2.windowSize, MAX_WINDOW),
        connectionWindowSize: Math.min(
          Math.max(
            http.http2ConnectionWindowSize ?? http2.connectionWindowSize,
            MIN_CONNECTION_WINDOW,
          ),
          MAX_WINDOW,
        ),
        frameSize: http.http2FrameSize ?? http2.frameSize,
        maxHeaderSize: http.http2MaxHeaderSize ?? http2.maxHeaderSize,
        ...(interval === undefined ? {} : { keepAliveInterval: time(interval, 0) }),
        keepAliveTimeout: time(http.http2KeepaliveTimeout, http2.keepAliveTimeout),
      },
    },
  };
}

/** Merges TCP settings over `rest`. */
export function readTcp(tcp: TcpValue, rest: FrontendConfig): FrontendConfig {
  const { connections } = rest;
  return {
    ...rest,
    connections: {
      ...connections,
      keepAlive: readKeepAlive(tcp.keepalives ?? tcp.keepalive ?? {}),
      maxConnections: tcp.maxConnections ?? connections.maxConnections,
    },
  };
}

/** Returns the parts of a frontend that require listeners of some kind; `origin` is that of the section. */
export function frontendSections(
  value: FrontendValue | undefined,
  origin: Origin,
): readonly Section[] {
  const protocols = value?.tls?.alpn;
  return Object.entries(FRONTEND_TRAFFIC).flatMap(([field, actsOn]): readonly Section[] => {
    if (field === "tls.alpn")
      return alpnSections(protocols ?? [], field, childOf(origin, "tls", "alpn"));
    const path = field.split(".");
    const found = path.reduce<unknown>(
      (at, step) => (typeof at === "object" && at !== null ? Reflect.get(at, step) : undefined),
      value,
    );
    return found === undefined ? [] : [{ name: field, actsOn, origin: childOf(origin, ...path) }];
  });
}

/** Returns a TLS version as named by OpenSSL. */
export function readTlsVersion(value: string | number | undefined): TlsVersion | undefined {
  if (value === undefined) return undefined;
  return /1[._]3$/.test(String(value)) ? "TLSv1.3" : "TLSv1.2";
}

function readTls(tls: TlsValue, at: Origin, rest: FrontendTlsConfig): FrontendTlsConfig {
  return {
    handshakeTimeout: time(tls.handshakeTimeout, rest.handshakeTimeout),
    ...dividedAlpn(tls.alpn, rest),
    minVersion: readTlsVersion(tls.minVersion) ?? rest.minVersion,
    maxVersion: readTlsVersion(tls.maxVersion) ?? rest.maxVersion,
    versionOrigin: versionOrigin(tls, at, rest.versionOrigin),
    cipherSuites: tls.cipherSuites ?? rest.cipherSuites,
    suitesOrigin: tls.cipherSuites === undefined ? rest.suitesOrigin : childOf(at, "cipherSuites"),
    keyExchangeGroups: tls.keyExchangeGroups ?? rest.keyExchangeGroups,
  };
}

/** Maximum window of HTTP/2 (RFC 9113 6.9.1). */
const MAX_WINDOW = 2_147_483_647;
/** Initial and minimum window of an HTTP/2 connection (RFC 9113 6.9.2). */
const MIN_CONNECTION_WINDOW = 65_535;

function versionOrigin(
  tls: Pick<TlsValue, "minVersion" | "maxVersion">,
  at: Origin,
  origin: Origin,
): Origin {
  if (tls.minVersion !== undefined) return childOf(at, "minVersion");
  return tls.maxVersion === undefined ? origin : childOf(at, "maxVersion");
}

function time(text: string | undefined, otherwise: number): number {
  return (text === undefined ? undefined : parseTimer(text)) ?? otherwise;
}
