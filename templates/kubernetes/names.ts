import type { DeploymentNode } from "../../compiler/ir.ts";

/** A name of at most 63 characters: a label's and a Service's limit. */
export function resourceName({ name }: DeploymentNode): string {
  return name.length <= 63 ? name : name.slice(0, 63).replace(/[-.]+$/, "");
}

/** Labels by which a gateway's pods are found. */
export function selectorLabels(deployment: DeploymentNode): Readonly<Record<string, string>> {
  return {
    "app.kubernetes.io/name": resourceName(deployment),
    "gateway.networking.k8s.io/gateway-name": resourceName(deployment),
  };
}
