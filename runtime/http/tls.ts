/** TLS of one bind: a certificate per listener, chosen by SNI; the first one answers names that match none. */
export interface TlsSettings {
  readonly certificates: readonly CertificateSettings[];
}

/** A certificate and its key, both PEM files read at start and again when they change. */
export interface CertificateSettings {
  /** The listener's hostname (`api.example.com`, `*.example.com`), or `*`. */
  readonly hostname: string;
  /** Path of the certificate chain. */
  readonly certFile: string;
  /** Path of the private key. */
  readonly keyFile: string;
}
