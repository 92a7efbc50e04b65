/** The manifest of a Gateway `gw` with a listener of plain HTTP on this port, ready for others behind it. */
export function gatewayManifest(port: number): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec: {gatewayClassName: gwc, listeners: [{name: http, port: ${port}, protocol: HTTP}]}
---
`;
}

/** A GatewayClass `ours` with the parameters `of-class`, ready for others behind it. */
export const ownClassManifest = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: ours}
spec:
  controllerName: gwc.dev/gateway
  parametersRef: {group: gwc.dev, kind: GatewayParameters, name: of-class, namespace: default}
---`;
