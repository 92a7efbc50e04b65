import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, literal } from "../code/code.ts";
import type { Code, Printable } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import { jwtProviders } from "./jwt-auth.ts";
import { locationCode } from "./parts/credential-location.ts";
import { awaitedIdentitySteps } from "./parts/identity.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/policies/mcp-authentication";
const METADATA = "gwc/runtime/auth/oauth/metadata";

/** `mcpAuthentication`: OAuth metadata first, for any request; then the token check. */
export const mcpAuthenticationTemplate: PolicyTemplate<"mcpAuthentication"> = {
  identity: "jwt",
  openStepUp: imported("gwc/runtime/auth/oauth/step-up", "openStepUp"),
  detail: ({ mode }) => mode,
  code: ({ settings, origin }, scope) => {
    const { trace } = scope;
    const { mode, providers, provider } = settings;
    const location = locationCode(settings.location, "findToken", scope);
    const value = { location: location.value, providers: jwtProviders(providers) };
    const verifier = imported("gwc/runtime/policies/jwt-auth", "openJwt");
    return {
      declarations: [
        ...location.declarations,
        code`
          ${trace(origin)}
          const mcpAuthentication = ${verifier}(${literal(value)});
        `,
        code`const oauth = ${literal(oauthSettings(settings))};`,
      ],
      first: [
        code`if (${imported(METADATA, "isOAuthPath")}(exchange)) return ${serve(provider)}(exchange, oauth);`,
      ],
      ...awaitedIdentitySteps("jwt", mode, CHECKS, code`mcpAuthentication`),
      readsRequestBody: location.readsRequestBody,
    };
  },
};

const CHECKS = {
  strict: imported(MODULE, "requireMcpJwt"),
  optional: imported(MODULE, "acceptMcpJwt"),
  permissive: imported("gwc/runtime/policies/jwt-auth", "observeJwt"),
};

type Settings = PolicySettings["mcpAuthentication"];

function serve(provider: Settings["provider"]): ReturnType<typeof imported> {
  switch (provider) {
    case "auth0":
      return imported("gwc/runtime/auth/oauth/auth0", "serveAuth0OAuth");
    case "keycloak":
      return imported("gwc/runtime/auth/oauth/keycloak", "serveKeycloakOAuth");
    case undefined:
      return imported(METADATA, "serveOAuth");
  }
}

function oauthSettings({ issuer, audience, provider, resourceMetadata }: Settings): Printable {
  const urls: Code = code`${imported("gwc/runtime/auth/oauth/well-known", "metadataUrls")}(${literal(issuer)})`;
  const registration = literal(withPath(issuer, "/clients-registrations/openid-connect"));
  return {
    issuer,
    metadataUrls: urls,
    resourceMetadata: {
      // With an adapted provider, clients see the gateway as the authorization server.
      ...(provider === undefined ? { authorization_servers: [issuer] } : {}),
      mcp_protocol_version: "2025-11-25",
      resource_type: "mcp-server",
      bearer_methods_supported: ["header"],
      ...(resourceMetadata as Readonly<Record<string, Printable>>),
    },
    audience: provider === "auth0" ? (audience ?? "") : undefined,
    registrationUrl: provider === "keycloak" ? code`${registration}` : undefined,
  };
}

/** Returns the issuer's address with a path below it. */
function withPath(issuer: Settings["issuer"], path: string): Settings["issuer"] {
  if (typeof issuer === "string") return `${issuer.replace(/\/$/, "")}${path}`;
  return { kind: "env", parts: [...issuer.parts, path] };
}
