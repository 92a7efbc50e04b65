/**
 * MCP routes that differ in how their authorization server is reached; all lead to the server at `url`. `silent`: an
 * authorization server that does not announce `iss`.
 */
export function mcpRoutes(issuer: string, url: string, silent = issuer): string {
  const route = (name: string, match: string, authentication: string, cors = "", by = issuer) => `
- name: ${name}
  ${match}
  policies:
    ${cors}
    mcpAuthentication:
      issuer: ${by}
      audiences: [https://api.example]
      jwks: { url: "${by}/jwks" }
      ${authentication}
  backends: [{ mcp: { targets: [{ name: main, mcp: { host: "${url}" } }] } }]
`;
  const at = (path: string) => `matches: [{ path: { pathPrefix: ${path} } }]`;
  const plain = "resourceMetadata: { scopesSupported: [use] }";
  const keycloak = "provider: { keycloak: {} }";
  const named = "resourceMetadata: { resourceName: Tools, scopesSupported: [use] }";
  const cors = `cors: { allowOrigins: ["https://app.example"], allowHeaders: ["*"] }`;
  return [
    route("plain", at("/mcp"), plain, cors),
    route("optional", at("/optional"), "mode: optional"),
    route("auth0", at("/auth0"), "provider: { auth0: {} }"),
    route("keycloak", at("/keycloak"), `${keycloak}\n      ${named}`),
    route("silent", at("/silent"), `${keycloak}\n      ${named}`, "", silent),
    route("misnamed", at("/misnamed"), plain, "", `${issuer}/`),
    route("endpoint", "hostnames: [api.example]", "provider: { auth0: {} }"),
    route("root", "hostnames: [root.test]", plain),
  ].join("");
}
