import type { ListenerTlsValue } from "../../1-parse/standalone/listener.ts";
import type { ListenerTlsResource } from "../../config/resources.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { readTlsVersion } from "./frontend.ts";

/** Converts a listener's validated `tls` to canonical form; `origin` is that of the listener. */
export function readListenerTls(tls: ListenerTlsValue, origin: Origin): ListenerTlsResource {
  return {
    ...readCertificate(tls, origin),
    minVersion: readTlsVersion(tls.minTLSVersion ?? tls.minTlsVersion),
    maxVersion: readTlsVersion(tls.maxTLSVersion ?? tls.maxTlsVersion),
    cipherSuites: tls.cipherSuites,
    keyExchangeGroups: tls.keyExchangeGroups,
  };
}

function readCertificate(
  { cert = "", key = "", root, acme, spiffe }: ListenerTlsValue,
  origin: Origin,
): Pick<ListenerTlsResource, "certificate" | "clients"> {
  if (spiffe !== undefined) {
    const use = { kind: "workloadApi", origin: childOf(origin, "tls", "spiffe") } as const;
    return { certificate: use, clients: { authorities: "workloadApi", mode: "required" } };
  }
  const certificate =
    acme === undefined
      ? { cert, key }
      : ({
          kind: "acme",
          names: acme.names ?? [],
          challenge: acme.challenge,
          origin: childOf(origin, "tls", "acme"),
        } as const);
  if (root === undefined) return { certificate };
  return {
    certificate,
    clients: { authorities: [{ kind: "path", file: root }], mode: "required" },
  };
}
