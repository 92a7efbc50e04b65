import { createHash } from "node:crypto";
import type { Metrics } from "../metrics/metrics.ts";
import { meshCertificateExpiry, meshCertificateStart } from "../metrics/table/mesh.ts";
import { startupError } from "../process/startup-error.ts";
import { SECOND } from "../process/units.ts";
import { meshTls, spiffeId, type WorkloadCertificate } from "../tls/workload-tls.ts";
import { type Mesh, type MeshLog, MeshMembership } from "./mesh-membership.ts";

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
    membership: (log, metrics) => new MeshMembership(log, metrics),
    open: (log, metrics) => {
      const certificate = open(log);
      const forget = tellValidity(trustDomain, certificate, metrics);
      return {
        key,
        tls: meshTls(trustDomain, certificate),
        get isReady() {
          return certificate.isReady;
        },
        close: () => {
          forget();
          certificate.close();
        },
      };
    },
  };
}

/** Until the function that is returned is called. */
function tellValidity(
  trustDomain: string,
  certificate: WorkloadCertificate,
  metrics: Metrics,
): () => void {
  const read = (
    metric: typeof meshCertificateExpiry | typeof meshCertificateStart,
    end: "start" | "expiry",
  ) =>
    metrics.read(metric, () => {
      const { validity } = certificate;
      return validity === undefined ? [] : [[[trustDomain], validity[end] / SECOND]];
    });
  const readers = [read(meshCertificateStart, "start"), read(meshCertificateExpiry, "expiry")];
  return () => {
    for (const forget of readers) forget();
  };
}

/** The SPIFFE ID of the process's own pod. Throws StartupError where nobody says which that is. */
export function ownSpiffeId(trustDomain: string): string {
  return spiffeId(trustDomain, `${variable("NAMESPACE")}/${variable("SERVICE_ACCOUNT")}`);
}

/** What tells a pod who it is. Throws StartupError. */
function variable(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== "") return value;
  throw startupError(
    `the environment variable ${name} is not set: it is a part of the identity in the mesh`,
  );
}
