import type { ConnectionSettings } from "../../runtime/net/connection-settings.ts";
import { defaultConnections } from "../../runtime/net/default-connections.ts";
import type { AlpnProtocol, TlsVersion } from "../../runtime/tls/tls-settings.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { NamedExpression } from "../model/expressions.ts";
import type { Section, Traffic } from "../model/traffic.ts";
import type { ConnectionCheckConfig } from "../policies/connection-check.ts";
import type { ConnectionRulesConfig } from "../policies/connection-rules.ts";
import type { KeyExchangeGroup } from "../schema/key-exchange.ts";
import type { ProxyProtocolConfig } from "./proxy-protocol.ts";

/** Settings of a gateway towards its clients, with defaults, from files or manifests. */
export interface FrontendConfig {
  /** Maximum size in bytes of a body that is buffered as a whole; `undefined` for the defaults. */
  readonly maxBufferSize?: number | undefined;
  readonly connections: ConnectionSettings;
  /** Header (lower case) with the id of each request; `undefined` if requests have no id. */
  readonly requestId?: string;
  /** PROXY protocol settings; `undefined` if not configured. */
  readonly proxyProtocol?: ProxyProtocolConfig | undefined;
  /** Rules for who may connect; `undefined` if everyone may. */
  readonly connectionRules?: ConnectionRulesConfig | undefined;
  /** A server that is asked about clients that the rules allow; `undefined` if none is asked. */
  readonly connectionCheck?: ConnectionCheckConfig | undefined;
  readonly tls: FrontendTlsConfig;
  /** Labels of requests in metrics; empty if none are configured. */
  readonly metricLabels: readonly NamedExpression[];
}

/** TLS settings of every listener that does not set its own. */
export interface FrontendTlsConfig {
  /** In milliseconds. */
  readonly handshakeTimeout: number;
  /** Protocols that HTTPS listeners negotiate. */
  readonly alpn: readonly AlpnProtocol[];
  /** Protocols that other listeners negotiate when they terminate TLS: none of HTTP's. */
  readonly otherAlpn: readonly string[];
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** Place of the versions; the gateway for the defaults. */
  readonly versionOrigin: Origin;
  readonly cipherSuites: readonly CipherSuite[];
  /** Place of the cipher suites; the gateway for the defaults. */
  readonly suitesOrigin: Origin;
  /** Groups of the key exchange, by preference; `undefined` for the defaults of OpenSSL. */
  readonly keyExchangeGroups?: readonly KeyExchangeGroup[] | undefined;
}

/** Traffic of the sections of a frontend, by their names in a file; single fields where they differ. */
export const FRONTEND_TRAFFIC: Readonly<Record<string, readonly Traffic[]>> = {
  accessLog: ["requests", "streams"],
  tracing: ["requests"],
  requestId: ["requests"],
  metrics: ["requests"],
  http: ["requests"],
  tcp: ["connections"],
  networkAuthorization: ["connections"],
  networkExtAuthz: ["connections"],
  proxyProtocol: ["connections"],
  "tls.handshakeTimeout": ["handshakes"],
  "tls.minVersion": ["tls"],
  "tls.maxVersion": ["tls"],
  "tls.cipherSuites": ["tls"],
  "tls.keyExchangeGroups": ["tls"],
  "tls.alpn": ["https", "endedTls"],
};

/** Returns the frontend settings of a port of a gateway. */
export function frontendOfPort(
  { frontend, portFrontends }: FrontendsOfPorts,
  port: number,
): FrontendConfig {
  return portFrontends?.get(port) ?? frontend;
}

/** The frontend settings of a gateway, and those of single ports. */
export interface FrontendsOfPorts {
  readonly frontend: FrontendConfig;
  readonly portFrontends?: ReadonlyMap<number, FrontendConfig>;
}

/** Returns the frontend settings of a gateway without any configuration. `origin` is that of the gateway. */
export function defaultFrontend(origin: Origin): FrontendConfig {
  return {
    metricLabels: [],
    connections: defaultConnections,
    tls: {
      handshakeTimeout: 15_000,
      alpn: ["h2", "http/1.1"],
      otherAlpn: [],
      minVersion: "TLSv1.2",
      maxVersion: "TLSv1.3",
      versionOrigin: origin,
      cipherSuites: CIPHER_SUITES,
      suitesOrigin: origin,
    },
  };
}

/**
 * Divides the configured ALPN protocols by the listeners that use them. Without an HTTP protocol, the HTTP ones keep
 * their defaults.
 */
export function dividedAlpn(
  protocols: readonly string[] | undefined,
  rest: FrontendTlsConfig,
): Pick<FrontendTlsConfig, "alpn" | "otherAlpn"> {
  if (protocols === undefined) return { alpn: rest.alpn, otherAlpn: rest.otherAlpn };
  const alpn = protocols.filter(isAlpn);
  const otherAlpn = protocols.filter((protocol) => !isAlpn(protocol));
  return { alpn: alpn.length === 0 ? rest.alpn : alpn, otherAlpn };
}

/**
 * Returns the sections of an ALPN list that apply to listeners of different kinds. `origin` is the place of the list.
 */
export function alpnSections(
  protocols: readonly string[],
  name: string,
  origin: Origin,
): readonly Section[] {
  const other = protocols.findIndex((protocol) => !isAlpn(protocol));
  const hasHttp = protocols.some(isAlpn);
  return [
    ...(hasHttp ? [{ name, actsOn: ["https"] as const, origin }] : []),
    ...(other < 0 ? [] : [{ name, actsOn: ["endedTls"] as const, origin: childOf(origin, other) }]),
  ];
}

/** Whether gwc supports an ALPN protocol. */
function isAlpn(protocol: string): protocol is AlpnProtocol {
  return protocol === "h2" || protocol === "http/1.1";
}

/** Supported cipher suites, in their default order. */
export const CIPHER_SUITES = [
  "TLS13_AES_256_GCM_SHA384",
  "TLS13_AES_128_GCM_SHA256",
  "TLS13_CHACHA20_POLY1305_SHA256",
  "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
  "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
] as const;

/** A cipher suite as the configuration spells it. */
export type CipherSuite = (typeof CIPHER_SUITES)[number];

/** Returns OpenSSL's name of a suite. */
export function opensslName(suite: CipherSuite): string {
  if (suite.startsWith("TLS13_")) return suite.replace("TLS13_", "TLS_");
  return suite
    .replace(/^TLS_/, "")
    .replace("_WITH_", "_")
    .replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    .replace(/AES_(128|256)/, "AES$1")
    .replaceAll("_", "-");
}

/** Whether a suite belongs to a TLS version. */
export function isSuiteOf(suite: CipherSuite, version: TlsVersion): boolean {
  return suite.startsWith("TLS13_") === (version === "TLSv1.3");
}
