import type { DeploymentNode } from "../../compiler/ir/deployment.ts";

/** Name of the gateway's container in its pods. */
export const GATEWAY_CONTAINER = "gateway";

/** Returns the labels by which a gateway's pods are selected. */
export function selectorLabels({ name }: DeploymentNode): Readonly<Record<string, string>> {
  return {
    "app.kubernetes.io/name": name,
    "gateway.networking.k8s.io/gateway-name": name,
  };
}

/** Returns the labels that a Gateway adds to its own, which are selectors and must not change. */
export function withOwnLabels(
  asked: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...own, ...asked, ...own };
}
