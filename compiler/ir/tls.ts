import type { AlpnProtocol, TlsVersion } from "../../runtime/tls/tls-settings.ts";

/** TLS of a port, as the runtime takes it, without the certificates of its listeners. */
export interface TlsNode {
  /** Milliseconds. */
  readonly handshakeTimeout: number;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** OpenSSL's names. */
  readonly cipherSuites: readonly string[];
  readonly alpn: readonly AlpnProtocol[];
  /** The path, as configured, of the authorities that sign client certificates. */
  readonly clientAuthorities: string | undefined;
}

/** A listener's certificate and key: paths as configured, read when the gateway starts. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** The paths are NAME/KEY of mounted Secrets. */
  readonly isSecret?: boolean;
}
