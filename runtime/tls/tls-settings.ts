import type { WorkloadIdentity } from "./identity.ts";
import type { IssuedCertificate } from "./issued-certificate.ts";

/** TLS of one bind. Certificates are chosen by SNI, one per listener; the rest is common. */
export interface TlsSettings {
  readonly certificates: readonly CertificateSettings[];
  /** Maximum milliseconds from the connection to the end of its handshake. */
  readonly handshakeTimeout: number;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** OpenSSL's names in order of preference; suites of TLS 1.3 and earlier together. */
  readonly cipherSuites: readonly string[];
  /** OpenSSL's names of the groups of the key exchange, in order of preference; absent for its defaults. */
  readonly keyExchangeGroups?: readonly string[];
  /** Protocols in order of preference (RFC 7301). */
  readonly alpn: readonly string[];
  /** If absent, clients need no certificate. */
  readonly clients?: ClientCertificates;
}

/** Settings of client certificates. */
export interface ClientCertificates {
  /** Paths of the authorities (PEM) that sign them, or the gateway's identity: they are of workloads in its trust domain. */
  readonly authorities: readonly string[] | WorkloadIdentity;
  /** `required`: connections without a valid certificate are refused. `optional`: they are accepted as anonymous. */
  readonly mode: "required" | "optional";
}

/** TLS 1.2 (RFC 5246) or 1.3 (RFC 8446); older versions are deprecated (RFC 8996). */
export type TlsVersion = "TLSv1.2" | "TLSv1.3";

/** ALPN name of a version of HTTP. */
export type AlpnProtocol = "h2" | "http/1.1";

/** The certificate of a listener. */
export type CertificateSettings = FileCertificate | IdentityCertificate | ObtainedCertificate;

/** A certificate and its key: PEM files, read at startup and again when they change. */
export interface FileCertificate {
  /** The listener's hostname (`api.example.com`, `*.example.com`), or `*`. */
  readonly hostname: string;
  /** Path of the certificate chain. */
  readonly certFile: string;
  /** Path of the private key. */
  readonly keyFile: string;
}

/** The gateway's own identity as a certificate. */
export interface IdentityCertificate {
  /** The listener's hostname. */
  readonly hostname: string;
  readonly identity: WorkloadIdentity;
}

/** A certificate that is obtained while the gateway runs. */
export interface ObtainedCertificate {
  /** The listener's hostname. */
  readonly hostname: string;
  readonly issued: IssuedCertificate;
}
