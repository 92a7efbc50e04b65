/** The manifest of a route of the Gateway `front` that leads a path, by default `/NAME`, to a Service. */
export function routeManifest(name: string, backend: string, path = `/${name}`): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: front }]
  rules:
    - matches: [{ path: { value: ${path} } }]
      backendRefs: [{ name: ${backend}, port: 80 }]
`;
}
