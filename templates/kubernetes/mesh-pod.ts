import type { MeshNode } from "../../compiler/ir/mesh.ts";
import type { Json } from "../../compiler/model/json.ts";

/** Where Istio's own pods have their token and the certificates of its authority: the runtime looks there. */
const TOKEN_DIR = "/var/run/secrets/tokens";
const AUTHORITY_DIR = "/var/run/secrets/istio";
/** For whom Istio's authority asks a token to be made, and the seconds that it is good for; the kubelet renews it before. */
const AUDIENCE = "istio-ca";
const TOKEN_TIME = 43_200;

/** What a pod needs to get a certificate of its mesh. */
export interface MeshPod {
  readonly variables: readonly Json[];
  readonly volumes: readonly Json[];
  readonly mounts: readonly Json[];
}

/** The parts of a pod that is in a mesh; none when it is in no mesh, or somebody else gives it certificates. */
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
      // Istio puts it into every namespace; an authority that the system knows needs none.
      { name: "istio-ca", configMap: { name: "istio-ca-root-cert", optional: true } },
    ],
    mounts: [
      { name: "istio-token", mountPath: TOKEN_DIR, readOnly: true },
      { name: "istio-ca", mountPath: AUTHORITY_DIR, readOnly: true },
    ],
  };
}
