import { gatewayManifest } from "./gateway-manifest.ts";

/** Manifests of a Gateway on this port that sends every request to the GatewayBackend `models`. */
export function modelsRoute(port: number): string {
  return `${gatewayManifest(port)}apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: chat}
spec:
  parentRefs: [{name: gw}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: models}]}]
---
`;
}
