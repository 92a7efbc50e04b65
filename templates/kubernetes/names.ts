import type { DeploymentNode } from "../../compiler/ir/deployment.ts";

/** What the container of the gateway is called in its pods. */
export const GATEWAY_CONTAINER = "gateway";

/** Labels by which a gateway's pods are found. */
export function selectorLabels({ name }: DeploymentNode): Readonly<Record<string, string>> {
  return {
    "app.kubernetes.io/name": name,
    "gateway.networking.k8s.io/gateway-name": name,
  };
}
