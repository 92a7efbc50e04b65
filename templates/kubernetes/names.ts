import type { DeploymentNode } from "../../compiler/ir/deployment.ts";

/** Labels by which a gateway's pods are found. */
export function selectorLabels({ name }: DeploymentNode): Readonly<Record<string, string>> {
  return {
    "app.kubernetes.io/name": name,
    "gateway.networking.k8s.io/gateway-name": name,
  };
}
