import type { oauthTokenExchange } from "../../../1-parse/kubernetes/schemas/connection.ts";
import { headerPlace, sharedFields } from "../../../backends/parts/token-exchange.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { TokenExchangeConfig } from "../../../model/token-exchange.ts";
import type { Infer } from "../../../schema/schema.ts";

/** `oauthTokenExchange` of manifests; undefined without an address. `secret`: the mounted secret of its client. */
export function lowerTokenExchange(
  value: Infer<typeof oauthTokenExchange>,
  secret: { readonly file: string; readonly origin: Origin },
  origin: Origin,
): TokenExchangeConfig | undefined {
  const { url = "", clientAuth, grantType, subjectToken = {}, requestedTokenType } = value;
  // What is no URL was reported.
  if (!URL.canParse(url)) return undefined;
  const { origin: host, pathname, search } = new URL(url);
  return {
    ...sharedFields(value, origin),
    host,
    hostOrigin: childOf(origin, "url"),
    path: `${pathname}${search}`,
    client: clientAuth && {
      clientId: clientAuth.clientId,
      clientSecret: { kind: "secret", file: secret.file },
      method: clientAuth.method === "ClientSecretPost" ? "clientSecretPost" : "clientSecretBasic",
      secretOrigin: secret.origin,
    },
    grant: grantType === "JwtBearer" ? "jwtBearer" : "tokenExchange",
    subject: headerPlace(undefined),
    subjectType: tokenType(subjectToken.tokenType ?? "AccessToken"),
    requestedType: requestedTokenType && tokenType(requestedTokenType),
    target: headerPlace(value.location?.header),
  };
}

/** The URI of a token type; another one is its own (RFC 8693 3). */
function tokenType(name: string): string {
  const known = new Map([
    ["AccessToken", "access_token"],
    ["Jwt", "jwt"],
    ["IdToken", "id_token"],
  ]).get(name);
  return known === undefined ? name : `urn:ietf:params:oauth:token-type:${known}`;
}
