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

/**
 * What the TLS listeners of one port share: each listener's own fields, else the frontend's. Undefined for plain HTTP.
 * Reports listeners that differ, and versions and suites that leave no handshake possible.
 */
export function resolveTls(
  listeners: readonly ListenerResource[],
  frontend: FrontendTlsConfig,
  diagnostics: Diagnostics,
): TlsNode | undefined {
  const shares = listeners.flatMap((listener) => shareOf(listener, frontend) ?? []);
  const [first] = shares;
  if (first === undefined) return undefined;
  checkShare(first, diagnostics);
  for (const share of shares.slice(1)) checkSame(first, share, diagnostics);
  const { minVersion, maxVersion, cipherSuites, clients } = first;
  const versions = [minVersion, maxVersion];
  return {
    handshakeTimeout: frontend.handshakeTimeout,
    minVersion,
    maxVersion,
    // A suite of a version that is not allowed would only be noise in the generated code.
    cipherSuites: cipherSuites
      .filter((suite) => versions.some((version) => isSuiteOf(suite, version)))
      .map(opensslName),
    alpn: frontend.alpn,
    clients,
  };
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

const SHARED = {
  minVersion: "minTLSVersion",
  maxVersion: "maxTLSVersion",
  cipherSuites: "cipherSuites",
  clients: "root",
} as const;

function checkSame(first: Share, other: Share, diagnostics: Diagnostics): void {
  for (const [key, field] of Object.entries(SHARED) as [keyof typeof SHARED, string][]) {
    if (JSON.stringify(first[key]) === JSON.stringify(other[key])) continue;
    const { listener } = other;
    const related = [{ at: childOf(first.listener.origin, "tls"), label: "the other one" }];
    const isOwn = listener.tls?.[key] !== undefined;
    const at = isOwn
      ? childOf(listener.origin, "tls", field)
      : { ...childOf(listener.origin, "tls"), part: "key" as const };
    diagnostics.report("tls-conflict", at, { port: listener.port, field }, related);
  }
}
