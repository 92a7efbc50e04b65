import { childOf } from "../diagnostics/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { PathMatch } from "../model/matches.ts";
import type { Text } from "../model/texts.ts";
import {
  anyText,
  choice,
  type Infer,
  json,
  list,
  map,
  object,
  shortText,
  unsupported,
} from "../schema/schema.ts";
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
  audiencesSchema,
  type JwtMode,
  type JwtProviderNode,
  kubernetesMode,
  lowerRequiredClaims,
  modeSchema,
  resolveProviders,
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

/** Identity providers whose metadata needs a change before MCP clients can use it. */
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
  /** Keys as the metadata document spells them (RFC 9728: snake_case). */
  readonly resourceMetadata: Readonly<Record<string, Json>>;
}

const schema = object(
  {
    mode: modeSchema,
    issuer: shortText("The authorization server; the token's issuer (`iss`), exactly.", {
      examples: ["https://issuer.example.com"],
      readAtStart: true,
    }),
    audiences: audiencesSchema,
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
          "An identity provider whose metadata is adapted: clients know it by the gateway's name. Clients of 2026-07-28 compare that with " +
          "`iss` in its responses, so a provider that announces `iss` keeps its own name, and its own metadata: Keycloak, and Auth0 where " +
          "the first of `audiences` is the URL of the MCP endpoint. `resourceMetadata.authorizationServers` says otherwise. Absent: the provider's metadata stands as it is.",
      },
    ),
    resourceMetadata: map(json, {
      maxProperties: 64,
      description:
        "Members of the protected-resource metadata; camelCase keys are written in snake_case.",
    }),
    authorizationLocation: credentialLocationSchema("Bearer"),
    jwtValidationOptions: validationSchema,
    clientId: unsupported("client ids for clients that cannot register"),
    clientSecret: unsupported("client secrets"),
  },
  {
    required: ["issuer"],
    description: "OAuth for an MCP endpoint.",
    examples: [{ issuer: "https://issuer.example.com", audiences: ["tools.example.com"] }],
  },
);

/** `MCPAuthentication` of the specification. */
const kubernetesSchema = object(
  {
    resourceMetadata: map(json, {
      description: "Further fields of the protected resource's metadata (RFC 9728).",
    }),
    provider: choice("An identity provider whose metadata is adapted.", [
      ...(["Auth0", "Keycloak", "IdpKind1", "IdpKind2"] as const),
    ]),
    issuer: shortText("The authorization server, and the token's issuer."),
    audiences: list(anyText(), {
      minItems: 1,
      maxItems: 64,
      description: "Of these the token names one (`aud`).",
    }),
    jwks: kubernetesRemoteJwksSchema,
    mode: choice("What happens without a valid token.", ["Strict", "Optional", "Permissive"]),
  },
  { required: ["jwks"] },
);

/** The OAuth resource server of an MCP endpoint (MCP authorization, RFC 9728, RFC 8414). */
export const mcpAuthentication: Policy<
  "mcpAuthentication",
  McpAuthenticationConfig,
  McpAuthenticationNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "mcpAuthentication",
  summary:
    "verifies bearer tokens and serves the OAuth metadata by which MCP clients find the authorization server",
  scope: ["route"],
  schema,
  actsOn: ["mcp"],
  names: ["mcpAuthentication", "oauth"],
  identity: "jwt",
  passesAnonymous: ({ mode }) => mode !== "strict",
  credential: ({ mode, location }) => ({ kind: "token", mode, location }),
  addPrefixes: metadataPrefixes,
  direction: "closes",
  access: ({ mode, providers }) => [tokenCheck(mode, providers)],
  compare: tokenComparison,
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
  kubernetes: {
    field: "backend.mcp.authentication",
    schema: kubernetesSchema,
    lower: lowerKubernetes,
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
};

/** Where issuers publish their keys when the configuration does not say. */
const DEFAULT_JWKS: Readonly<Record<IdentityProvider, string>> = {
  auth0: "/.well-known/jwks.json",
  keycloak: "/protocol/openid-connect/certs",
};

/** Well-known names whose URLs carry the path of what they describe behind them (RFC 9728 3.1, RFC 8414 3.1 and 5). */
const WELL_KNOWN = [
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
];

/** The paths of the OAuth metadata of what a route serves, so that users need not list them. */
function metadataPrefixes(paths: readonly PathMatch[]): readonly string[] {
  // A prefix `/` takes the metadata's URLs along; the resource `/` itself has nothing behind the well-known names.
  const resources = paths.flatMap(({ kind, value }) => {
    if (kind === "regex" || (kind === "prefix" && value === "/")) return [];
    return [value === "/" ? "" : value];
  });
  return [...new Set(resources)].flatMap((path) => WELL_KNOWN.map((name) => `${name}${path}`));
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The identity providers as resources spell them, the specification's neutral names among them. */
const KUBERNETES_PROVIDERS: Readonly<Record<string, IdentityProvider>> = {
  Auth0: "auth0",
  IdpKind1: "auth0",
  Keycloak: "keycloak",
  IdpKind2: "keycloak",
};

/** `MCPAuthentication` of the specification. */
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
    mode: kubernetesMode(given.mode),
    location: defaultLocation("Bearer"),
    issuer: given.issuer,
    audiences: given.audiences ?? [],
    requiredClaims: ["exp"],
    jwks,
    provider: KUBERNETES_PROVIDERS[given.provider ?? ""],
    resourceMetadata: given.resourceMetadata ?? {},
  };
}
