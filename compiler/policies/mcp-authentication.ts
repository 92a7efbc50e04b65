import { childOf } from "../diagnostics/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { PathMatch } from "../model/matches.ts";
import type { Text } from "../model/texts.ts";
import { choice, type Infer, json, map, object, shortText, unsupported } from "../schema/schema.ts";
import { bothForms, fileWord, wordsOfForms } from "../schema/two-forms.ts";
import {
  issuerJwks,
  type JwksConfig,
  jwksSchema,
  kubernetesRemoteJwksSchema,
  lowerJwks,
  lowerRemoteJwks,
} from "./jwt-auth/jwks.ts";
import { tokenCheck, tokenComparison } from "./jwt-auth/token-access.ts";
import {
  audiences,
  type JwtMode,
  type JwtProviderNode,
  lowerRequiredClaims,
  resolveProviders,
  TOKEN_MODE,
  tokenMode,
  validationSchema,
} from "./jwt-auth.ts";
import {
  type CredentialLocationConfig,
  type CredentialLocationNode,
  credentialLocationSchema,
  defaultLocation,
  lowerCredentialLocation,
  resolveCredentialLocation,
} from "./parts/credential-location.ts";
import type { KubernetesContext, Policy } from "./policy.ts";

/** Identity providers whose metadata must be adapted for MCP clients. */
export type IdentityProvider = "auth0" | "keycloak";

/** `mcpAuthentication` as configured. */
interface McpAuthenticationConfig {
  readonly mode: JwtMode;
  readonly location: CredentialLocationConfig;
  readonly issuer: Text;
  readonly audiences: readonly string[];
  readonly requiredClaims: readonly string[];
  readonly jwks: JwksConfig;
  readonly provider: IdentityProvider | undefined;
  readonly resourceMetadata: Readonly<Record<string, Json>>;
}

/** `mcpAuthentication` resolved. */
interface McpAuthenticationNode {
  readonly mode: JwtMode;
  readonly location: CredentialLocationNode;
  readonly providers: readonly JwtProviderNode[];
  readonly issuer: Text;
  readonly audience: string | undefined;
  readonly provider: IdentityProvider | undefined;
  /** Keys as in the metadata document (RFC 9728: snake_case). */
  readonly resourceMetadata: Readonly<Record<string, Json>>;
}

const ISSUER = "URL of the authorization server; must equal the token's `iss` exactly.";

const resourceMetadata = bothForms(
  map(json, {
    description:
      "Members of the protected resource metadata (RFC 9728); camelCase keys are converted to snake_case.",
  }),
  { file: { maxProperties: 64 } },
);

const schema = object(
  {
    mode: tokenMode.file,
    issuer: shortText(ISSUER, {
      examples: ["https://issuer.example.com"],
      readAtStart: true,
    }),
    audiences: audiences.file,
    jwks: jwksSchema,
    provider: object(
      {
        auth0: object({}, { description: "Auth0." }),
        keycloak: object({}, { description: "Keycloak." }),
        okta: unsupported("Okta"),
        descope: unsupported("Descope"),
      },
      {
        exactlyOneOf: ["auth0", "keycloak"],
        description:
          "An identity provider whose metadata is adapted: clients see it under the gateway's name. Clients of 2026-07-28 compare this name with " +
          "`iss` in its responses, so a provider that announces `iss` keeps its own name and metadata: Keycloak, and Auth0 if " +
          "the first of `audiences` is the URL of the MCP endpoint. `resourceMetadata.authorizationServers` overrides this. If unset, the provider's metadata is served unchanged.",
      },
    ),
    resourceMetadata: resourceMetadata.file,
    authorizationLocation: credentialLocationSchema("Bearer"),
    jwtValidationOptions: validationSchema,
    clientId: unsupported("client ids for clients that cannot register"),
    clientSecret: unsupported("client secrets"),
  },
  {
    required: ["issuer"],
    description: "Makes an MCP endpoint an OAuth protected resource.",
    examples: [{ issuer: "https://issuer.example.com", audiences: ["tools.example.com"] }],
  },
);

/** Schema of the specification's `MCPAuthentication`. */
const kubernetesSchema = object(
  {
    resourceMetadata: resourceMetadata.manifest,
    provider: choice("An identity provider whose metadata is adapted.", [
      ...(["Auth0", "Keycloak", "IdpKind1", "IdpKind2"] as const),
    ]),
    issuer: shortText(ISSUER),
    audiences: audiences.manifest,
    jwks: kubernetesRemoteJwksSchema,
    mode: wordsOfForms(...TOKEN_MODE).manifest,
  },
  { required: ["jwks"] },
);

/** Acts as the OAuth resource server of an MCP endpoint (MCP authorization, RFC 9728, RFC 8414). */
export const mcpAuthentication: Policy<
  "mcpAuthentication",
  McpAuthenticationConfig,
  McpAuthenticationNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "mcpAuthentication",
  summary:
    "verifies bearer tokens and serves the OAuth metadata from which MCP clients discover the authorization server",
  scope: ["route"],
  schema,
  traits: {
    actsOn: ["mcp"],
    addPrefixes: metadataPrefixes,
  },
  names: ["mcpAuthentication", "oauth"],
  access: {
    identity: "jwt",
    passesAnonymous: ({ mode }) => mode !== "strict",
    credential: ({ mode, location }) => ({ kind: "token", mode, location }),
    direction: "closes",
    checks: ({ mode, providers }) => [tokenCheck(mode, providers)],
    compare: tokenComparison,
  },
  lowering: {
    merge: "replace",
    lower: (given, origin) => {
      const location = childOf(origin, "authorizationLocation");
      const provider =
        given.provider === undefined
          ? undefined
          : "keycloak" in given.provider
            ? "keycloak"
            : "auth0";
      return {
        mode: given.mode ?? "strict",
        location: lowerCredentialLocation(given.authorizationLocation, "Bearer", location),
        issuer: given.issuer,
        audiences: given.audiences ?? [],
        requiredClaims: lowerRequiredClaims(given.jwtValidationOptions),
        jwks:
          given.jwks === undefined
            ? issuerJwks(given.issuer, DEFAULT_JWKS[provider ?? "auth0"], childOf(origin, "issuer"))
            : lowerJwks(given.jwks, childOf(origin, "jwks")),
        provider,
        resourceMetadata: given.resourceMetadata ?? {},
      };
    },
    resolve: (config, context) => {
      const at = { ...context.origin, part: "key" } as const;
      if (context.route.policies.includes("jwtAuth")) {
        context.diagnostics.report("two-token-checks", at, {});
        return undefined;
      }
      const { mode, issuer, audiences, provider } = config;
      if (typeof issuer === "string" && !/^https?:\/\/[^/]/.test(issuer)) {
        const params = { field: '"issuer"', expected: "the URL of the authorization server" };
        context.diagnostics.report("bad-format", childOf(context.origin, "issuer"), params);
        return undefined;
      }
      const providers = resolveProviders([config], context);
      const location = resolveCredentialLocation(config.location, context);
      if (providers === undefined || location === undefined) return undefined;
      const resourceMetadata = Object.fromEntries(
        Object.entries(config.resourceMetadata).map(([key, value]) => [snakeCase(key), value]),
      );
      return {
        mode,
        location,
        providers,
        issuer,
        audience: audiences[0],
        provider,
        resourceMetadata,
      };
    },
  },
  kubernetes: {
    field: "backend.mcp.authentication",
    schema: kubernetesSchema,
    lower: lowerKubernetes,
  },
};

/** Default paths of key sets below the issuer. */
const DEFAULT_JWKS: Readonly<Record<IdentityProvider, string>> = {
  auth0: "/.well-known/jwks.json",
  keycloak: "/protocol/openid-connect/certs",
};

/** Well-known URIs that are followed by the path of the resource (RFC 9728 3.1, RFC 8414 3.1 and 5). */
const WELL_KNOWN = [
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
];

/** Returns the paths of the OAuth metadata for a route's paths, so that users need not list them. */
function metadataPrefixes(paths: readonly PathMatch[]): readonly string[] {
  // A prefix `/` already includes the metadata's URLs. For the resource `/`, nothing follows the well-known URI.
  const resources = paths.flatMap(({ kind, value }) => {
    if (kind === "regex" || (kind === "prefix" && value === "/")) return [];
    return [value === "/" ? "" : value];
  });
  return [...new Set(resources)].flatMap((path) => WELL_KNOWN.map((name) => `${name}${path}`));
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Names of the identity providers in manifests, including the specification's vendor-neutral ones. */
const KUBERNETES_PROVIDERS: Readonly<Record<string, IdentityProvider>> = {
  Auth0: "auth0",
  IdpKind1: "auth0",
  Keycloak: "keycloak",
  IdpKind2: "keycloak",
};

/** Reads the specification's `MCPAuthentication`. */
function lowerKubernetes(
  given: Infer<typeof kubernetesSchema>,
  context: KubernetesContext,
): McpAuthenticationConfig | undefined {
  const { origin, diagnostics } = context;
  if (given.issuer === undefined) {
    const params = { owner: "authentication", key: "issuer" };
    diagnostics.report("missing-field", { ...origin, part: "key" }, params);
  }
  const jwks = lowerRemoteJwks(given.jwks, childOf(origin, "jwks"), context);
  if (jwks === undefined || given.issuer === undefined) return undefined;
  return {
    mode: fileWord(given.mode ?? "Strict"),
    location: defaultLocation("Bearer"),
    issuer: given.issuer,
    audiences: given.audiences ?? [],
    requiredClaims: ["exp"],
    jwks,
    provider: KUBERNETES_PROVIDERS[given.provider ?? ""],
    resourceMetadata: given.resourceMetadata ?? {},
  };
}
