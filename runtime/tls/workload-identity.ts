import { channel } from "node:diagnostics_channel";
import type { PeerCertificate } from "node:tls";
import { uriNames } from "../net/alternative-names.ts";
import { NoIdentity } from "../process/no-identity.ts";
import { OfferedValue } from "../process/offered-values.ts";
import type { IssuedIdentity, WorkloadIdentity } from "./identity.ts";
import { hasOneOf, serverNameOf } from "./upstream-tls.ts";

const IDENTITY = new OfferedValue<IssuedIdentity>("gwc:identity");
const CHANGED = channel("gwc:identity-changed");

/** Makes connections use the identity that `identity` returns, until the returned function is called. */
export function offerIdentity(identity: () => IssuedIdentity | undefined): () => void {
  return IDENTITY.offer(identity);
}

/** Notifies everything that uses the identity of a change. */
export function identityChanged(): void {
  CHANGED.publish(undefined);
}

/** The identity of the running gateway. */
export const workloadIdentity: WorkloadIdentity = {
  current() {
    const issued = IDENTITY.current;
    if (issued === undefined)
      throw new NoIdentity("there is no identity of the SPIFFE Workload API yet");
    if (issued.expiry <= Date.now())
      throw new NoIdentity(`the identity ${issued.spiffeId} has expired`);
    return issued;
  },
  onChange(listener) {
    const respond = () => listener();
    CHANGED.subscribe(respond);
    return () => {
      CHANGED.unsubscribe(respond);
    };
  },
  problemOf({ names, isAuthority }) {
    const [uri, second] = uriNames(names);
    // X509-SVID 2 and 4.1: exactly one URI, and no authority.
    if (uri === undefined || second !== undefined || isAuthority)
      return "the certificate is not of a workload";
    const trustDomain = IDENTITY.current?.trustDomain;
    return trustDomain !== undefined && uri.startsWith(`spiffe://${trustDomain}/`)
      ? undefined
      : `the workload does not belong to the trust domain ${trustDomain}`;
  },
  tlsTo: ({ serverName, subjectAltNames }) => ({
    // A resumed session would outlive the certificate that was verified for it.
    resumes: false,
    optionsFor: (host) => ({
      secureContext: workloadIdentity.current().context,
      servername: serverNameOf(serverName ?? host),
      rejectUnauthorized: true,
      // The chain is verified at this point.
      checkServerIdentity: (_host, shown) => {
        const problem = problemOfServer(shown, subjectAltNames);
        return problem === undefined ? undefined : new Error(problem);
      },
    }),
  }),
};

function problemOfServer(
  shown: PeerCertificate,
  names: readonly string[] | undefined,
): string | undefined {
  const { subjectaltname = "", ca } = shown;
  const problem = workloadIdentity.problemOf({ names: subjectaltname, isAuthority: ca });
  if (problem !== undefined || names === undefined || hasOneOf(names, shown)) return problem;
  return "the certificate has none of the required names";
}
