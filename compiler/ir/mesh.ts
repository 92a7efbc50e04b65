import type { Origin } from "../diagnostics/diagnostic.ts";

/** The mesh that a gateway is a part of. */
export interface MeshNode {
  /** Of the identities of its workloads: `cluster.local`. */
  readonly trustDomain: string;
  readonly certificates: MeshCertificates;
  readonly origin: Origin;
}

/** Where the gateway has its certificate from. */
export type MeshCertificates =
  /** An authority that speaks Istio's protocol, at an `https://` URL. */
  | { readonly kind: "authority"; readonly url: string; readonly kubernetesId: string }
  /** A folder of the pod that somebody else writes them to. */
  | { readonly kind: "files"; readonly folder: string };
