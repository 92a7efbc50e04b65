import type { Origin } from "../diagnostics/diagnostic.ts";

/** The mesh that a gateway belongs to. */
export interface MeshNode {
  /** Trust domain of its workloads: `cluster.local`. */
  readonly trustDomain: string;
  readonly certificates: MeshCertificates;
  readonly origin: Origin;
}

/** Source of the gateway's certificate. */
export type MeshCertificates =
  /** A certificate authority with Istio's protocol, at an `https://` URL. */
  | { readonly kind: "authority"; readonly url: string; readonly kubernetesId: string }
  /** A folder of the pod that another process writes them to. */
  | { readonly kind: "files"; readonly folder: string };
