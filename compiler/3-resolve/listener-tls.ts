import type { TlsVersion } from "../../runtime/tls/tls-settings.ts";
import {
  type CipherSuite,
  type FrontendTlsConfig,
  isSuiteOf,
  opensslName,
} from "../config/frontend.ts";
import type { ListenerResource } from "../config/resources.ts";
import { childOf, type Diagnostics, type Origin } from "../diagnostics/diagnostic.ts";
import type { CertificateNode, ClientCertificatesNode, TlsNode } from "../ir/tls.ts";
import { type KeyExchangeGroup, opensslGroup } from "../schema/key-exchange.ts";

/** TLS of the listeners of one port. */
export interface PortTlsNodes {
  /**
   * TLS of connections without a server name: that of the listener for every name, or else of the first;
   * `undefined` without TLS.
   */
  readonly tls: TlsNode | undefined;
  /** TLS of listeners that differ from it, by listener key. */
  readonly own: ReadonlyMap<string, TlsNode>;
}

/**
 * Resolves TLS of a port's listeners, given in order of precedence, from their own fields or else the frontend's.
 * Reports versions and cipher suites that make handshakes impossible.
 */
export function resolveTls(
  listeners: readonly ListenerResource[],
  frontend: FrontendTlsConfig,
  alpn: readonly string[],
  diagnostics: Diagnostics,
): PortTlsNodes {
  const shares = listeners.flatMap((listener) => shareOf(listener, frontend) ?? []);
  const first = shares.find(({ listener }) => listener.hostname === "*") ?? shares[0];
  if (first === undefined) return { tls: undefined, own: new Map() };
  const nodes = shares.map((share) => ({ share, node: nodeOf(share, frontend, alpn) }));
  const tls = nodeOf(first, frontend, alpn);
  const own = nodes.filter(({ node }) => JSON.stringify(node) !== JSON.stringify(tls));
  for (const share of new Set([first, ...own.map((each) => each.share)]))
    checkShare(share, diagnostics);
  return { tls, own: new Map(own.map(({ share, node }) => [share.listener.key, node])) };
}

/** Reports versions of the gateway that make handshakes impossible, for any listeners. */
export function checkVersions(
  { minVersion: min, maxVersion: max, versionOrigin }: FrontendTlsConfig,
  diagnostics: Diagnostics,
): void {
  if (min > max) diagnostics.report("tls-versions", versionOrigin, { min, max });
}

/** Returns the certificate of a listener that terminates TLS. */
export function certificateOf({ tls }: ListenerResource): CertificateNode | undefined {
  return tls?.certificate;
}

/** Returns TLS of a listener that differs from its port's; empty if it is the same. */
export function ownHandshake(
  { key }: ListenerResource,
  { own }: PortTlsNodes,
): { readonly handshake?: TlsNode } {
  const handshake = own.get(key);
  return handshake === undefined ? {} : { handshake };
}

/** TLS settings of one listener. */
interface Share {
  readonly listener: ListenerResource;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  readonly versionOrigin: Origin;
  readonly cipherSuites: readonly CipherSuite[];
  readonly suitesOrigin: Origin;
  readonly keyExchangeGroups: readonly KeyExchangeGroup[] | undefined;
  readonly clients: ClientCertificatesNode | undefined;
}

function nodeOf(
  { minVersion, maxVersion, cipherSuites, keyExchangeGroups, clients }: Share,
  { handshakeTimeout }: FrontendTlsConfig,
  alpn: readonly string[],
): TlsNode {
  const versions = [minVersion, maxVersion];
  return {
    handshakeTimeout,
    minVersion,
    maxVersion,
    // Omits suites of versions that are not allowed, which would only clutter the generated code.
    cipherSuites: cipherSuites
      .filter((suite) => versions.some((version) => isSuiteOf(suite, version)))
      .map(opensslName),
    ...(keyExchangeGroups && { keyExchangeGroups: keyExchangeGroups.map(opensslGroup) }),
    alpn,
    clients,
  };
}

function shareOf(listener: ListenerResource, frontend: FrontendTlsConfig): Share | undefined {
  const { tls, origin } = listener;
  if (tls === undefined) return undefined;
  const at = childOf(origin, "tls");
  const ownVersion =
    tls.minVersion === undefined
      ? tls.maxVersion === undefined
        ? undefined
        : "maxTLSVersion"
      : "minTLSVersion";
  return {
    listener,
    minVersion: tls.minVersion ?? frontend.minVersion,
    maxVersion: tls.maxVersion ?? frontend.maxVersion,
    versionOrigin: ownVersion === undefined ? frontend.versionOrigin : childOf(at, ownVersion),
    cipherSuites: tls.cipherSuites ?? frontend.cipherSuites,
    suitesOrigin:
      tls.cipherSuites === undefined ? frontend.suitesOrigin : childOf(at, "cipherSuites"),
    keyExchangeGroups: tls.keyExchangeGroups ?? frontend.keyExchangeGroups,
    clients: tls.clients,
  };
}

function checkShare(share: Share, diagnostics: Diagnostics): void {
  const { minVersion: min, maxVersion: max, cipherSuites } = share;
  if (min > max) {
    diagnostics.report("tls-versions", share.versionOrigin, { min, max });
    return;
  }
  for (const version of new Set([min, max])) {
    if (cipherSuites.some((suite) => isSuiteOf(suite, version))) continue;
    diagnostics.report("tls-suites", share.suitesOrigin, { version });
  }
}
