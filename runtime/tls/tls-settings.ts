/** TLS of one bind: a certificate per listener, chosen by SNI; the rest is the same for all of them. */
export interface TlsSettings {
  readonly certificates: readonly CertificateSettings[];
  /** Milliseconds from the connection to the end of its handshake. */
  readonly handshakeTimeout: number;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** OpenSSL's names, the most wanted first; TLS 1.3 suites and earlier ones together. */
  readonly cipherSuites: readonly string[];
  /** What is spoken, the most wanted first (RFC 7301). */
  readonly alpn: readonly string[];
  /** Absent: clients show no certificate. */
  readonly clients?: ClientCertificates;
}

/** The certificates that clients show. */
export interface ClientCertificates {
  /** Paths of the authorities (PEM) that sign them. */
  readonly authorities: readonly string[];
  /** `required`: without a valid one there is no connection. `optional`: there is, and it is nobody's. */
  readonly mode: "required" | "optional";
}

/** TLS 1.2 (RFC 5246) or 1.3 (RFC 8446): older ones are broken (RFC 8996). */
export type TlsVersion = "TLSv1.2" | "TLSv1.3";

/** A protocol of HTTP by its name in ALPN. */
export type AlpnProtocol = "h2" | "http/1.1";

/** A certificate and its key, both PEM files read at start and again when they change. */
export interface CertificateSettings {
  /** The listener's hostname (`api.example.com`, `*.example.com`), or `*`. */
  readonly hostname: string;
  /** Path of the certificate chain. */
  readonly certFile: string;
  /** Path of the private key. */
  readonly keyFile: string;
}
