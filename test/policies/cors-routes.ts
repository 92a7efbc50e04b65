import type { Echo } from "../harness/echo.ts";

/** Returns routes with CORS before a token check, with CORS only, and for any origin. `keys.json` is the key set. */
export function corsRoutes(upstream: Echo, allowOrigins: readonly string[]): string {
  const backends = `backends: [{ host: "${new URL(upstream.url).host}" }]`;
  const listed = `cors:
      allowOrigins: ${JSON.stringify(allowOrigins)}
      allowMethods: [GET, PUT]
      allowHeaders: [content-type, x-asked]
      exposeHeaders: [X-Shown]
      allowCredentials: true
      maxAge: 5m`;
  return `
- name: listed
  matches: [{ path: { exact: /listed } }]
  policies:
    ${listed}
    jwtAuth:
      issuer: https://issuer.example
      jwks: { file: keys.json }
  ${backends}
- name: simple
  matches: [{ path: { exact: /simple } }]
  policies:
    ${listed}
  ${backends}
- name: any
  matches: [{ path: { exact: /any } }]
  policies:
    cors: { allowOrigins: ["*"], allowMethods: ["*"], allowHeaders: ["*"] }
  ${backends}
- name: bare
  matches: [{ path: { exact: /bare } }]
  policies:
    cors: { allowOrigins: ["https://who.test"], allowHeaders: ["*"], allowCredentials: true }
  ${backends}
`;
}
