/** The class of Gateways that the controller serves. */
export const gatewayClass = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gwc }
spec: { controllerName: gwc.dev/gateway }
`;

/** The Gateway `front` of that class, with the parameters of its name and one listener. */
export function frontManifest(port: number): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: front }
spec:
  gatewayClassName: gwc
  infrastructure: { parametersRef: { group: gwc.dev, kind: GatewayParameters, name: front } }
  listeners: [{ name: http, port: ${port}, protocol: HTTP }]
`;
}
