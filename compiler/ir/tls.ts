import type { ClientCertificates, TlsVersion } from "../../runtime/tls/tls-settings.ts";
import type { IdentityUse } from "../model/identity-use.ts";
import type { MountedFile } from "../model/texts.ts";
import type { AcmeUse } from "./acme.ts";

/** TLS of a port in the form of the runtime, without the certificates of its listeners. */
export interface TlsNode {
  /** In milliseconds. */
  readonly handshakeTimeout: number;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** Cipher suites by OpenSSL's names. */
  readonly cipherSuites: readonly string[];
  /** Groups of the key exchange by OpenSSL's names; absent for its defaults. */
  readonly keyExchangeGroups?: readonly string[];
  readonly alpn: readonly string[];
  /** `undefined` if clients need no certificate. */
  readonly clients: ClientCertificatesNode | undefined;
}

/** Requirements for client certificates. */
export interface ClientCertificatesNode extends Pick<ClientCertificates, "mode"> {
  /** Certificate authorities that sign them, or those of the gateway's own trust domain. */
  readonly authorities: readonly MountedFile[] | "workloadApi";
}

/** The certificate of a listener. */
export type CertificateNode = CertificateFiles | IdentityUse | AcmeUse;

/** Certificate and key of a listener: paths as configured, read when the gateway starts. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  /** Whether the paths are NAME/KEY of mounted Secrets. */
  readonly isSecret?: boolean;
}
