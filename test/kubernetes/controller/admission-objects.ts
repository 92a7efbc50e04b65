import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import type { TestObject } from "../../harness/kubernetes-api.ts";
import { root } from "../../harness/root.ts";

/** The name of the configuration that asks the controller. */
export const CONFIGURATION = "gwc-gwc-system";

/** The group of the Gateway API. */
export const gatewayApi = "gateway.networking.k8s.io/v1";

/** The documents of a manifest of out/helm, without the definitions, which are there. */
export function manifests(name: string): readonly TestObject[] {
  const text = readFileSync(path.join(root, "out", "helm", name), "utf8");
  const all = parseAllDocuments(text).map((each) => each.toJS() as TestObject | null);
  return all.flatMap((each) =>
    each === null || each.kind === "CustomResourceDefinition" ? [] : [each],
  );
}

/** A Gateway of a class. */
export function gateway(className: string, name: string): string {
  return `
apiVersion: ${gatewayApi}
kind: Gateway
metadata: { name: ${name} }
spec: { gatewayClassName: ${className}, listeners: [{ name: http, port: 8080, protocol: HTTP }] }
`;
}

/** A route of HTTP. */
export function route(
  name: string,
  { parent = "front", pattern = "/books/[0-9]+", more = "" } = {},
): string {
  return `
apiVersion: ${gatewayApi}
kind: HTTPRoute
metadata: { name: ${name}${more} }
spec:
  parentRefs: [{ name: ${parent} }]
  rules:
    - matches: [{ path: { type: RegularExpression, value: "${pattern}" } }]
      backendRefs: [{ name: later, port: 80 }]
`;
}

/** A policy with a rule. */
export function policy(name: string, expression: string, target = "front"): string {
  return `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: { name: ${name} }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: ${target} }]
  traffic: { authorization: { policy: { matchExpressions: ['${expression}'] } } }
`;
}
