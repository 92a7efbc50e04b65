import type { ConnectionSettings } from "../../runtime/net/connection-settings.ts";
import { defaultConnections } from "../../runtime/net/default-connections.ts";
import type { AlpnProtocol, TlsVersion } from "../../runtime/tls/tls-settings.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { Section, Traffic } from "../model/traffic.ts";
import type { ConnectionRulesConfig } from "../policies/connection-rules.ts";
import type { ProxyProtocolConfig } from "./proxy-protocol.ts";

/** How a gateway meets its clients, complete: what both front ends make of their frontend policies. */
export interface FrontendConfig {
  /** The most bytes of a body that is read as a whole, for whoever needs it so. */
  readonly maxBufferSize: number;
  readonly connections: ConnectionSettings;
  /** The header (lower case) that holds the id of each request; absent: requests have none. */
  readonly requestId?: string;
  /** Which proxies say for whom they make connections, and how; undefined: nothing is said of it. */
  readonly proxyProtocol?: ProxyProtocolConfig | undefined;
  /** Who may connect; undefined: everybody. */
  readonly connectionRules?: ConnectionRulesConfig | undefined;
  readonly tls: FrontendTlsConfig;
}

/** TLS of every listener that does not say it itself. */
export interface FrontendTlsConfig {
  /** Milliseconds. */
  readonly handshakeTimeout: number;
  /** What listeners of HTTPS agree on. */
  readonly alpn: readonly AlpnProtocol[];
  /** What listeners agree on that end TLS and pass connections on: no protocol of HTTP. */
  readonly otherAlpn: readonly string[];
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** Where the versions stand; the gateway when they are the defaults. */
  readonly versionOrigin: Origin;
  readonly cipherSuites: readonly CipherSuite[];
  /** Where the suites stand; the gateway when they are the defaults. */
  readonly suitesOrigin: Origin;
}

/** What the sections of a frontend act on, single fields where they differ, by their names in a file. */
export const FRONTEND_TRAFFIC: Readonly<Record<string, readonly Traffic[]>> = {
  accessLog: ["requests", "streams"],
  tracing: ["requests"],
  requestId: ["requests"],
  http: ["requests"],
  tcp: ["connections"],
  networkAuthorization: ["connections"],
  proxyProtocol: ["connections"],
  "tls.handshakeTimeout": ["handshakes"],
  "tls.minVersion": ["tls"],
  "tls.maxVersion": ["tls"],
  "tls.cipherSuites": ["tls"],
  "tls.alpn": ["https", "endedTls"],
};

/** The frontend of a gateway that configures nothing of it. `origin` is the gateway's. */
export function defaultFrontend(origin: Origin): FrontendConfig {
  return {
    maxBufferSize: 2_097_152,
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

/** The protocols of ALPN that are configured, each where it is spoken; without any of HTTP's those are as they were. */
export function dividedAlpn(
  protocols: readonly string[] | undefined,
  rest: FrontendTlsConfig,
): Pick<FrontendTlsConfig, "alpn" | "otherAlpn"> {
  if (protocols === undefined) return { alpn: rest.alpn, otherAlpn: rest.otherAlpn };
  const alpn = protocols.filter(isAlpn);
  const otherAlpn = protocols.filter((protocol) => !isAlpn(protocol));
  return { alpn: alpn.length === 0 ? rest.alpn : alpn, otherAlpn };
}

/** The parts of a list of ALPN that act on listeners of different kinds. `origin`: where the list stands. */
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

/** Whether gwc speaks a protocol of ALPN. */
export function isAlpn(protocol: string): protocol is AlpnProtocol {
  return protocol === "h2" || protocol === "http/1.1";
}

/** The cipher suites that can be chosen, in the order that is used when none are. */
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

/** OpenSSL's name of a suite. */
export function opensslName(suite: CipherSuite): string {
  if (suite.startsWith("TLS13_")) return suite.replace("TLS13_", "TLS_");
  return suite
    .replace(/^TLS_/, "")
    .replace("_WITH_", "_")
    .replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    .replace(/AES_(128|256)/, "AES$1")
    .replaceAll("_", "-");
}

/** Whether a suite belongs to a version. */
export function isSuiteOf(suite: CipherSuite, version: TlsVersion): boolean {
  return suite.startsWith("TLS13_") === (version === "TLSv1.3");
}
