import type { SecureContext } from "node:tls";
import type { DestinationTls } from "../net/connector.ts";
import type { Validity } from "./validity.ts";

/** An X.509-SVID with its key, and the authorities of its trust domain (SPIFFE, X509-SVID). */
export interface IssuedIdentity extends Validity {
  /** `spiffe://example.org/gateway` */
  readonly spiffeId: string;
  /** `example.org` */
  readonly trustDomain: string;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly authorities: readonly string[];
  /** All of it, for handshakes in both directions. */
  readonly context: SecureContext;
}

/** The gateway's own identity, which changes while it runs. */
export interface WorkloadIdentity {
  /** Returns the current identity. Throws NoIdentity while there is no valid one. */
  current(): IssuedIdentity;
  /** Calls the listener when the identity has changed, or has expired. The returned function unsubscribes. */
  onChange(listener: () => void): () => void;
  /** Returns why a verified certificate is not of a workload in the same trust domain; `undefined` if it is. */
  problemOf(certificate: ShownIdentity): string | undefined;
  /** TLS to a workload of the same trust domain. */
  tlsTo(server: NamedWorkload): DestinationTls;
}

/** Parts of a certificate that name a workload. */
export interface ShownIdentity {
  /** Names as Node formats them. */
  readonly names: string;
  /** Whether it is that of an authority. */
  readonly isAuthority: boolean;
}

/** Names of a server. */
export interface NamedWorkload {
  /** SNI; the host of the destination if absent. */
  readonly serverName?: string;
  /** Names of which its certificate must have one, `URI:...` for a URI; any of the trust domain if absent. */
  readonly subjectAltNames?: readonly string[];
}
