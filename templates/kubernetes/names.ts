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

/** Labels that a Gateway asks for beside its own, by which it is found: those stay what they are. */
export function withOwnLabels(
  asked: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...own, ...asked, ...own };
}
