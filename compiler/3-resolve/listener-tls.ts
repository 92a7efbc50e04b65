import type { TlsVersion } from "../../runtime/tls/tls-settings.ts";
import {
  type CipherSuite,
  type FrontendTlsConfig,
  isSuiteOf,
  opensslName,
} from "../config/frontend.ts";
import type { ListenerResource } from "../config/resources.ts";
import { childOf, type Diagnostics, type Origin } from "../diagnostics/diagnostic.ts";
import type { CertificateFiles, ClientCertificatesNode, TlsNode } from "../ir/tls.ts";

/** TLS of the listeners of one port. */
export interface PortTlsNodes {
  /** TLS of connections that name no server: that of the listener for every name, else of the first one; undefined: none. */
  readonly tls: TlsNode | undefined;
  /** TLS of each listener that differs from it, by the listener's key. */
  readonly own: ReadonlyMap<string, TlsNode>;
}

/**
 * Resolves TLS of a port's listeners, which are in order of precedence: each listener's own fields, else the frontend's.
 * Reports versions and suites that leave no handshake possible.
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

/** Reports versions of a gateway's own that leave no handshake possible, whichever listeners there are. */
export function checkVersions(
  { minVersion: min, maxVersion: max, versionOrigin }: FrontendTlsConfig,
  diagnostics: Diagnostics,
): void {
  if (min > max) diagnostics.report("tls-versions", versionOrigin, { min, max });
}

/** The certificate of a listener whose TLS ends here. */
export function certificateOf({ tls }: ListenerResource): CertificateFiles | undefined {
  if (tls === undefined) return undefined;
  const { cert, key, isSecret } = tls;
  return { cert, key, ...(isSecret === undefined ? {} : { isSecret }) };
}

/** TLS of a listener that differs from its port's; empty: it is the port's. */
export function ownHandshake(
  { key }: ListenerResource,
  { own }: PortTlsNodes,
): { readonly handshake?: TlsNode } {
  const handshake = own.get(key);
  return handshake === undefined ? {} : { handshake };
}

/** What one listener wants of its port. */
interface Share {
  readonly listener: ListenerResource;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  readonly versionOrigin: Origin;
  readonly cipherSuites: readonly CipherSuite[];
  readonly suitesOrigin: Origin;
  readonly clients: ClientCertificatesNode | undefined;
}

function nodeOf(
  { minVersion, maxVersion, cipherSuites, clients }: Share,
  { handshakeTimeout }: FrontendTlsConfig,
  alpn: readonly string[],
): TlsNode {
  const versions = [minVersion, maxVersion];
  return {
    handshakeTimeout,
    minVersion,
    maxVersion,
    // A suite of a version that is not allowed would only be noise in the generated code.
    cipherSuites: cipherSuites
      .filter((suite) => versions.some((version) => isSuiteOf(suite, version)))
      .map(opensslName),
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
