import { childOf, keyPlace } from "../../../diagnostics/diagnostic.ts";
import type { MeshNode } from "../../../ir/mesh.ts";
import type { ReferenceContext } from "../inventory/references.ts";
import type { ParametersSpec } from "./parameters.ts";
import { lastOf } from "./process.ts";

/** Default address and cluster id of Istio's certificate authority. */
const AUTHORITY = "https://istiod.istio-system.svc:15012";
const KUBERNETES = "Kubernetes";

/**
 * Returns the mesh of a Gateway from its own parameters, then its class's, field by field; `undefined` if it is
 * not in a mesh. Only a controller knows which pods are in a mesh, so without one the field is reported.
 */
export function gatewayMesh(
  parameters: readonly ParametersSpec[],
  { isDelivered, diagnostics }: Pick<ReferenceContext, "isDelivered" | "diagnostics">,
): MeshNode | undefined {
  const origin = lastOf(parameters, meshOrigin);
  if (origin === undefined) return undefined;
  const field = <Name extends keyof MeshFields>(name: Name) =>
    lastOf(parameters, ({ mesh }) => mesh?.[name]);
  if (field("enabled") === false) return undefined;
  if (!isDelivered) diagnostics.report("mesh-without-controller", keyPlace(origin), {});
  return {
    trustDomain: field("trustDomain") ?? "cluster.local",
    certificates: certificatesOf(field("caAddress") ?? AUTHORITY, field("clusterId") ?? KUBERNETES),
    origin,
  };
}

type MeshFields = NonNullable<ParametersSpec["mesh"]>;

function meshOrigin({ mesh, origin }: ParametersSpec): MeshNode["origin"] | undefined {
  return mesh && childOf(origin, "spec", "mesh");
}

function certificatesOf(address: string, kubernetesId: string): MeshNode["certificates"] {
  if (address.startsWith("file:"))
    return { kind: "files", folder: decodeURI(new URL(address).pathname) };
  const url = address.startsWith("https:") ? address : `https://${address}`;
  return { kind: "authority", url, kubernetesId };
}
