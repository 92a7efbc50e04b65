import type { ConnectionSettings } from "../../runtime/net/connection-settings.ts";
import type { TlsSettings } from "../../runtime/tls/tls-settings.ts";

/** The connection settings that the compiler emits for a gateway without `frontendPolicies`. */
export const connections: ConnectionSettings = {
  keepAlive: { time: 180_000, interval: 180_000, retries: 9 },
  maxHeaders: 100,
  minBodyRate: 240,
  idleTimeout: 600_000,
  maxConnections: 10_000,
  http2: {
    windowSize: 262_144,
    connectionWindowSize: 1_048_576,
    frameSize: 16_384,
    maxHeaderSize: 65_536,
    keepAliveTimeout: 20_000,
  },
};

/** The same for TLS. */
export const tlsDefaults: Omit<TlsSettings, "certificates"> = {
  handshakeTimeout: 15_000,
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.3",
  cipherSuites: [
    "TLS_AES_256_GCM_SHA384",
    "TLS_AES_128_GCM_SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
  ],
  alpn: ["h2", "http/1.1"],
};
