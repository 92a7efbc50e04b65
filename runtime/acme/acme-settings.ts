/** Certificates that a gateway orders, and the account that orders them. */
export interface AcmeSettings {
  /** URL of the directory (RFC 8555 7.1.1). */
  readonly directory: string;
  /** Contact of the account; none if absent. */
  readonly email?: string;
  /** Path of the authorities (PEM) of the directory's own certificate; those of the system if absent. */
  readonly rootFile?: string;
  /** Account of the operator at the authority (RFC 8555 7.3.4); none if absent. */
  readonly externalAccount?: ExternalAccount;
  readonly certificates: readonly OrderedCertificate[];
}

/** Key of an account that exists outside ACME. */
export interface ExternalAccount {
  readonly keyId: string;
  /** Path of the key, in base64url as the authority shows it. */
  readonly keyFile: string;
}

/** A certificate that is ordered. */
export interface OrderedCertificate {
  readonly names: readonly string[];
  readonly challenge: ChallengeKind;
}

/** How the gateway proves that a name is its own: by a response on port 80 (RFC 8555 8.3), or by a handshake on port 443 (RFC 8737). */
export type ChallengeKind = "http-01" | "tls-alpn-01";
