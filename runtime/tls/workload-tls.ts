import { createSecureContext, type PeerCertificate, type SecureContext } from "node:tls";
import { uriNames } from "../net/alternative-names.ts";
import type { MeshTls } from "../net/joined-mesh.ts";
import { serverNameOf } from "./upstream-tls.ts";
import type { Validity } from "./validity.ts";

/** A certificate with its key, and the authorities of its mesh. */
export type WorkloadContext = SecureContext;

/** Certificate that the gateway shows to pods of its mesh. */
export interface WorkloadCertificate {
  /** Throws an Error while there is no valid certificate. */
  readonly context: WorkloadContext;
  /** Whether a certificate was ever available. */
  readonly isReady: boolean;
  /** `undefined` if there is no readable certificate. */
  readonly validity: Validity | undefined;
  close(): void;
}

/** Creates a context from PEM: the chain, its key, and the authorities. Throws if they do not match. */
export function workloadContext(
  cert: string,
  key: string,
  authorities: readonly string[],
): WorkloadContext {
  return createSecureContext({ cert, key, ca: [...authorities] });
}

/** Creates mutual TLS with pods of a trust domain (`cluster.local`). Pods are identified by their SPIFFE ID alone. */
export function meshTls(trustDomain: string, certificate: WorkloadCertificate): MeshTls {
  return {
    optionsFor: (account, host) => {
      const expected = spiffeId(trustDomain, account);
      return {
        secureContext: certificate.context,
        servername: serverNameOf(host),
        rejectUnauthorized: true,
        // The chain is verified at this point; only the identity is left to check.
        checkServerIdentity: (_host, shown) =>
          isNamed(shown, expected)
            ? undefined
            : new Error(`the certificate of the pod is not one of ${expected}`),
      };
    },
  };
}

/** Formats the SPIFFE ID of an account (`NAMESPACE/NAME`). */
export function spiffeId(trustDomain: string, account: string): string {
  const [namespace = "", name = ""] = account.split("/");
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${name}`;
}

/** Whether a certificate has this SPIFFE ID. X.509-SVID 2: a workload has exactly one name that is a URI. */
function isNamed({ subjectaltname = "" }: PeerCertificate, expected: string): boolean {
  const [uri, second] = uriNames(subjectaltname);
  return uri === expected && second === undefined;
}
