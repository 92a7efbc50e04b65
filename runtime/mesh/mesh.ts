import { createHash } from "node:crypto";
import type { Metrics } from "../metrics/metrics.ts";
import { meshCertificateExpiry, meshCertificateStart } from "../metrics/table/mesh.ts";
import { offerMesh } from "../net/joined-mesh.ts";
import { Enrollment, type EnrollmentLog } from "../process/enrollment.ts";
import { startupError } from "../process/startup-error.ts";
import { SECOND } from "../process/units.ts";
import { meshTls, spiffeId, type WorkloadCertificate } from "../tls/workload-tls.ts";
import type { Mesh } from "./open-mesh.ts";

/** The source of a certificate, identified by `settings`. `open` throws StartupError if there can never be a certificate. */
export interface CertificateSource {
  readonly settings: object;
  readonly open: (log: EnrollmentLog) => WorkloadCertificate;
}

/** Creates a mesh with identities of a trust domain (`cluster.local`). */
export function meshOf(trustDomain: string, { settings, open }: CertificateSource): Mesh {
  const text = JSON.stringify([trustDomain, settings]);
  const key = createHash("sha256").update(text).digest("hex");
  return {
    key,
    enrollment: (log, metrics) =>
      new Enrollment(log, metrics, (open) => offerMesh(() => open()?.tls)),
    open: (log, metrics) => {
      const certificate = open(log);
      const forget = reportValidity(trustDomain, certificate, metrics);
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

/** Reports the validity of a certificate in metrics until the returned function is called. */
function reportValidity(
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

/** Returns the SPIFFE ID of this pod. Throws StartupError if the environment does not identify the pod. */
export function ownSpiffeId(trustDomain: string): string {
  return spiffeId(trustDomain, `${variable("NAMESPACE")}/${variable("SERVICE_ACCOUNT")}`);
}

/** Returns a variable that identifies the pod. Throws StartupError. */
function variable(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== "") return value;
  throw startupError(
    `the environment variable ${name} is not set: it is a part of the identity in the mesh`,
  );
}
