import type { ClientCertificates, TlsVersion } from "../../runtime/tls/tls-settings.ts";
import type { MountedFile } from "../model/texts.ts";

/** TLS of a port, as the runtime takes it, without the certificates of its listeners. */
export interface TlsNode {
  /** Milliseconds. */
  readonly handshakeTimeout: number;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** OpenSSL's names. */
  readonly cipherSuites: readonly string[];
  readonly alpn: readonly string[];
  /** Undefined: clients show no certificate. */
  readonly clients: ClientCertificatesNode | undefined;
}

/** The certificates that clients show. */
export interface ClientCertificatesNode extends Pick<ClientCertificates, "mode"> {
  /** Who signs them. */
  readonly authorities: readonly MountedFile[];
}

/** A listener's certificate and key: paths as configured, read when the gateway starts. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** The paths are NAME/KEY of mounted Secrets. */
  readonly isSecret?: boolean;
}
