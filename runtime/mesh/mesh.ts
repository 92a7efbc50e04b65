import { createHash } from "node:crypto";
import type { ConnectionOptions, PeerCertificate, SecureContext } from "node:tls";
import type { MeshTls } from "../net/mesh-tls.ts";
import { startupError } from "../process/startup-error.ts";
import { isAddress } from "../tls/upstream-tls.ts";

/** The mesh that a gateway is a part of: pods of it are connected to by mutual TLS. */
export interface Mesh {
  /** The same for meshes that are opened in the same way. */
  readonly key: string;
  /** Begins to have a certificate. Throws StartupError where it could never get one. */
  open(log: MeshLog): OpenMesh;
}

/** Takes what an operator is to know. Never with a token or a key. */
export interface MeshLog {
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
}

/** A mesh with a certificate, or on its way to one. */
export interface OpenMesh {
  readonly key: string;
  readonly tls: MeshTls;
  /** Whether there ever was a certificate: until then no requests are wanted. */
  readonly isReady: boolean;
  close(): void;
}

/** The certificate that the gateway shows to pods of its mesh. */
export interface WorkloadCertificate {
  /** The certificate with its key, and the authorities of the mesh. Throws an Error while there is none that is valid. */
  readonly context: SecureContext;
  readonly isReady: boolean;
  close(): void;
}

/** Where a certificate comes from: `settings` says it all. `open` throws StartupError where there can never be one. */
export interface CertificateSource {
  readonly settings: object;
  readonly open: (log: MeshLog) => WorkloadCertificate;
}

/** A mesh whose identities are of a trust domain (`cluster.local`). */
export function meshOf(trustDomain: string, { settings, open }: CertificateSource): Mesh {
  const text = JSON.stringify([trustDomain, settings]);
  const key = createHash("sha256").update(text).digest("hex");
  return {
    key,
    open: (log) => {
      const certificate = open(log);
      return {
        key,
        tls: tlsOf(trustDomain, certificate),
        get isReady() {
          return certificate.isReady;
        },
        close: () => certificate.close(),
      };
    },
  };
}

/** The SPIFFE ID of the process's own pod. Throws StartupError where nobody says which that is. */
export function ownSpiffeId(trustDomain: string): string {
  return spiffeId(trustDomain, `${variable("NAMESPACE")}/${variable("SERVICE_ACCOUNT")}`);
}

function tlsOf(trustDomain: string, certificate: WorkloadCertificate): MeshTls {
  return {
    optionsFor: (account, host): ConnectionOptions => {
      const expected = spiffeId(trustDomain, account);
      return {
        secureContext: certificate.context,
        servername: isAddress(host) ? "" : host,
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

/** SPIFFE-ID 2: a workload has one name, which is a URI. */
function isNamed({ subjectaltname = "" }: PeerCertificate, expected: string): boolean {
  return (
    subjectaltname
      .split(", ")
      .filter((name) => name.startsWith("URI:"))
      .join() === `URI:${expected}`
  );
}

/** `account`: `NAMESPACE/NAME`. */
function spiffeId(trustDomain: string, account: string): string {
  const [namespace = "", name = ""] = account.split("/");
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${name}`;
}

/** What tells a pod who it is. Throws StartupError. */
function variable(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== "") return value;
  throw startupError(
    `the environment variable ${name} is not set: it is a part of the identity in the mesh`,
  );
}
