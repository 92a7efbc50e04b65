/** Manifests of a Gateway on this port that sends every request to the GatewayBackend `models`. */
export function modelsRoute(port: number): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec: {gatewayClassName: gwc, listeners: [{name: http, port: ${port}, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: chat}
spec:
  parentRefs: [{name: gw}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: models}]}]
---
`;
}
