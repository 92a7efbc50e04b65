import type { ListenerTlsValue } from "../../1-parse/standalone/listener.ts";
import type { ListenerTlsResource } from "../../config/resources.ts";
import { readTlsVersion } from "./frontend.ts";

/** Converts a listener's validated `tls` to canonical form. */
export function readListenerTls(tls: ListenerTlsValue): ListenerTlsResource {
  return {
    cert: tls.cert,
    key: tls.key,
    clients:
      tls.root === undefined
        ? undefined
        : { authorities: [{ kind: "path", file: tls.root }], mode: "required" },
    minVersion: readTlsVersion(tls.minTLSVersion),
    maxVersion: readTlsVersion(tls.maxTLSVersion),
    cipherSuites: tls.cipherSuites,
  };
}
