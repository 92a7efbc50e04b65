import { createSecureContext, type PeerCertificate, type SecureContext } from "node:tls";
import type { MeshTls } from "../net/joined-mesh.ts";
import { serverNameOf } from "./upstream-tls.ts";

/** A certificate with its key, and the authorities of its mesh. */
export type WorkloadContext = SecureContext;

/** From when to when a certificate is valid, in milliseconds since the epoch. */
export interface Validity {
  readonly start: number;
  readonly expiry: number;
}

/** The certificate that the gateway shows to pods of its mesh. */
export interface WorkloadCertificate {
  /** Throws an Error while there is none that is valid. */
  readonly context: WorkloadContext;
  /** Whether there ever was one. */
  readonly isReady: boolean;
  /** Undefined: there is none, or it can't be read. */
  readonly validity: Validity | undefined;
  close(): void;
}

/** Makes one of PEM texts: the chain, its key, and the authorities. Throws when they do not belong together. */
export function workloadContext(
  cert: string,
  key: string,
  authorities: readonly string[],
): WorkloadContext {
  return createSecureContext({ cert, key, ca: [...authorities] });
}

/** Mutual TLS with pods of a trust domain (`cluster.local`): each is known by its SPIFFE ID, and by nothing else. */
export function meshTls(trustDomain: string, certificate: WorkloadCertificate): MeshTls {
  return {
    optionsFor: (account, host) => {
      const expected = spiffeId(trustDomain, account);
      return {
        secureContext: certificate.context,
        servername: serverNameOf(host),
        rejectUnauthorized: true,
        // The chain is verified by then: what is left is who the pod is.
        checkServerIdentity: (_host, shown) =>
          isNamed(shown, expected)
            ? undefined
            : new Error(`the certificate of the pod is not one of ${expected}`),
      };
    },
  };
}

/** The SPIFFE ID of an account, `NAMESPACE/NAME`. */
export function spiffeId(trustDomain: string, account: string): string {
  const [namespace = "", name = ""] = account.split("/");
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${name}`;
}

/** X.509-SVID 2: a workload has one name that is a URI. */
function isNamed({ subjectaltname = "" }: PeerCertificate, expected: string): boolean {
  const uris = subjectaltname.split(", ").filter((name) => name.startsWith("URI:"));
  return uris.join() === `URI:${expected}`;
}
