/** The provider and the upstream of the routes in the token tests. */
export interface JwtWorld {
  readonly issuer: string;
  readonly keySetUrl: string;
  /** A duration as configured. */
  readonly cacheDuration: string;
  /** The upstream's `host:port`. */
  readonly host: string;
}

/** Returns one route for each way to check a token. */
export function jwtRoutes({ issuer, keySetUrl, cacheDuration, host }: JwtWorld): string {
  const remote = `issuer: ${issuer}
      audiences: [https://api.example, https://other.example]
      jwks: { url: "${keySetUrl}", cacheDuration: ${cacheDuration} }`;
  const route = (path: string, jwtAuth: string, rules: readonly string[] = []) => `
- name: ${path}
  matches: [{ path: { pathPrefix: /${path} } }]
  policies:
    jwtAuth:
      ${jwtAuth}
    ${rules.length === 0 ? "" : `authorization: { rules: ${JSON.stringify(rules)} }`}
  backends: [{ host: "${host}" }]
`;
  const hasToken = ["has(jwt.iss)"];
  return [
    route("strict", remote),
    route("optional", `mode: optional\n      ${remote}`),
    route("permissive", `mode: permissive\n      ${remote}`),
    route("optional-ruled", `mode: optional\n      ${remote}`, hasToken),
    route("permissive-ruled", `mode: permissive\n      ${remote}`, hasToken),
    route("ruled", remote, ['jwt.client_id == "app" && request.path == "/ruled/allowed"']),
  ].join("");
}
