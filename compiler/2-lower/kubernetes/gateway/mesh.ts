import { childOf, keyPlace } from "../../../diagnostics/diagnostic.ts";
import type { MeshNode } from "../../../ir/mesh.ts";
import type { ReferenceContext } from "../inventory/references.ts";
import type { ParametersSpec } from "./parameters.ts";
import { lastOf } from "./process.ts";

/** Where Istio's own authority is, and what it calls the Kubernetes that it runs in, unless somebody says something else. */
const AUTHORITY = "https://istiod.istio-system.svc:15012";
const KUBERNETES = "Kubernetes";

/**
 * The mesh of a Gateway: each field as the Gateway's own parameters say, else as its class's. Undefined: it is in none.
 * Which pods are in a mesh only a controller can say: without one the field is a mistake, which is reported.
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
