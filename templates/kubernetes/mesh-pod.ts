import type { MeshNode } from "../../compiler/ir/mesh.ts";
import type { Json } from "../../compiler/model/json.ts";

/** Folders in which Istio's own pods have their token and CA certificates; the runtime reads the same ones. */
const TOKEN_DIR = "/var/run/secrets/tokens";
const AUTHORITY_DIR = "/var/run/secrets/istio";
/** Audience of tokens for Istio's authority, and their lifetime in seconds; the kubelet renews them earlier. */
const AUDIENCE = "istio-ca";
const TOKEN_TIME = 43_200;

/** Parts that a pod needs to get a certificate of its mesh. */
export interface MeshPod {
  readonly variables: readonly Json[];
  readonly volumes: readonly Json[];
  readonly mounts: readonly Json[];
}

/** Returns the mesh parts of a pod; none if it is in no mesh, or gets its certificates in another way. */
export function meshPod(mesh: MeshNode | undefined): MeshPod {
  if (mesh?.certificates.kind !== "authority") return { variables: [], volumes: [], mounts: [] };
  const token = { audience: AUDIENCE, expirationSeconds: TOKEN_TIME, path: "istio-token" };
  return {
    variables: [
      {
        name: "SERVICE_ACCOUNT",
        valueFrom: { fieldRef: { fieldPath: "spec.serviceAccountName" } },
      },
    ],
    volumes: [
      { name: "istio-token", projected: { sources: [{ serviceAccountToken: token }] } },
      // Istio creates it in every namespace; an authority with a publicly trusted certificate does not need it.
      { name: "istio-ca", configMap: { name: "istio-ca-root-cert", optional: true } },
    ],
    mounts: [
      { name: "istio-token", mountPath: TOKEN_DIR, readOnly: true },
      { name: "istio-ca", mountPath: AUTHORITY_DIR, readOnly: true },
    ],
  };
}
