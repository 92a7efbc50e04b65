import { ed25519 } from "../harness/token.ts";

/** What the routes of the token tests trust and where they lead. */
export interface JwtWorld {
  readonly issuer: string;
  readonly keySetUrl: string;
  /** A duration as configured. */
  readonly cacheDuration: string;
  /** Key sets, as JSON, of two issuers that the configuration itself holds keys of. */
  readonly inline?: readonly [first: string, second: string];
  /** The upstream's `host:port`. */
  readonly host: string;
}

/** One route for each way to check a token. */
export function jwtRoutes({
  issuer,
  keySetUrl,
  cacheDuration,
  inline = [unused, unused],
  host,
}: JwtWorld): string {
  const remote = `issuer: ${issuer}
      audiences: [https://api.example, https://other.example]
      jwks: { url: "${keySetUrl}", cacheDuration: ${cacheDuration} }`;
  const inlineKeys = `providers:
        - issuer: https://first.example
          jwks: { inline: '${inline[0]}' }
        - issuer: https://second.example
          audiences: [a]
          jwks: { inline: '${inline[1]}' }`;
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
    route("inline", inlineKeys),
    route("admin", inlineKeys, ["jwt.admin == true"]),
    route("odd", inlineKeys, ["jwt.constructor == 1"]),
  ].join("");
}

/** A key set is never empty. */
const unused = JSON.stringify({ keys: [ed25519] });
