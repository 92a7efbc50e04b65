import { credentialSchema, readSecretValue } from "../backends/parts/sent-credentials.ts";
import { childOf } from "../diagnostics/diagnostic.ts";
import { secretEntry } from "../manifests/field-types.ts";
import type { Json } from "../model/json.ts";
import type { PathMatch } from "../model/matches.ts";
import type { Text } from "../model/texts.ts";
import { type Infer, object, shortText } from "../schema/schema.ts";
import { fileWord, wordsOfForms } from "../schema/two-forms.ts";
import { needsField } from "../schema/value-checks.ts";
import {
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
  type AdaptedServerNode,
  type AuthorizationServerConfig,
  adaptedServer,
  keysOfIssuer,
} from "./mcp-authentication/adapted-server.ts";
import {
  authorizationServer,
  frontChanges,
  lowerFront,
  restOfFront,
} from "./mcp-authentication/authorization-server.ts";
import { IDENTITY_PROVIDERS, identityProviders } from "./mcp-authentication/identity-providers.ts";
import {
  clientId,
  kubernetesOAuthFields,
  readKubernetesOAuth,
  resourceMetadata,
} from "./mcp-authentication/oauth-fields.ts";
import {
  type CredentialLocationConfig,
  type CredentialLocationNode,
  credentialLocationSchema,
  defaultLocation,
  lowerCredentialLocation,
  resolveCredentialLocation,
} from "./parts/credential-location.ts";
import type { KubernetesContext, Policy } from "./policy.ts";

/** `mcpAuthentication` as configured. */
interface McpAuthenticationConfig extends AuthorizationServerConfig {
  readonly mode: JwtMode;
  readonly location: CredentialLocationConfig;
  readonly requiredClaims: readonly string[];
  /** `undefined` for the keys of the issuer. */
  readonly jwks: JwksConfig | undefined;
  readonly resourceMetadata: Readonly<Record<string, Json>>;
}

/** `mcpAuthentication` resolved. */
interface McpAuthenticationNode {
  readonly mode: JwtMode;
  readonly location: CredentialLocationNode;
  readonly providers: readonly JwtProviderNode[];
  readonly issuer: Text;
  /** How the metadata of the authorization server is adapted; `undefined` if it is served unchanged. */
  readonly adapted: AdaptedServerNode | undefined;
  /** Keys as in the metadata document (RFC 9728: snake_case). */
  readonly resourceMetadata: Readonly<Record<string, Json>>;
  /** Scopes that refusals tell clients to request; `undefined` if the metadata names none. */
  readonly challengeScope: string | undefined;
}

const ISSUER = "URL of the authorization server; must equal the token's `iss` exactly.";

const PROVIDER =
  "An identity provider whose metadata is adapted: clients see it under the gateway's name. Clients of 2026-07-28 compare this name with " +
  "`iss` in its responses, so a provider that announces `iss` keeps its own name and metadata where the adaptation is not needed: Keycloak and Descope without `clientId`, and Auth0 and Okta if " +
  "the first of `audiences` is the URL of the MCP endpoint. `resourceMetadata.authorizationServers` overrides this. If unset, the provider's metadata is served unchanged.";

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
      Object.fromEntries(
        IDENTITY_PROVIDERS.map((name) => [
          name,
          object({}, { description: `${identityProviders[name].title}.` }),
        ]),
      ),
      { exactlyOneOf: IDENTITY_PROVIDERS, description: PROVIDER },
    ),
    resourceMetadata: resourceMetadata.file,
    authorizationLocation: credentialLocationSchema("Bearer"),
    jwtValidationOptions: validationSchema,
    clientId: clientId.file,
    clientSecret: credentialSchema(
      "Secret of `clientId` at Entra or for `authorizationServer`, which the gateway adds to the token requests of clients: `${NAME}`, or `{file: PATH}`.",
    ),
    authorizationServer: authorizationServer.file,
  },
  {
    required: ["issuer"],
    checks: [needsField("clientSecret", "clientId"), needsField("authorizationServer", "clientId")],
    misplacedFieldHints: {
      jwksUrl: "write jwks: { url: URL }",
      jwksUri: "write jwks: { url: URL }",
      audience: "write audiences: [AUDIENCE]",
    },
    description: "Makes an MCP endpoint an OAuth protected resource.",
    examples: [{ issuer: "https://issuer.example.com", audiences: ["tools.example.com"] }],
  },
);

/** Schema of the specification's `MCPAuthentication`. */
const kubernetesSchema = object(
  {
    ...kubernetesOAuthFields,
    clientSecretRef: secretEntry(
      "A Secret with the secret of `clientId` at Entra, or for `authorizationServer`.",
      "clientSecret",
    ),
    authorizationServer: authorizationServer.manifest,
    issuer: shortText(ISSUER),
    audiences: audiences.manifest,
    jwks: kubernetesRemoteJwksSchema,
    mode: wordsOfForms(...TOKEN_MODE).manifest,
  },
  {
    required: ["jwks"],
    checks: [
      needsField("clientSecretRef", "clientId"),
      needsField("authorizationServer", "clientId"),
    ],
  },
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
    compare: {
      changes: (before, after) => [
        ...tokenComparison.changes(before, after),
        ...frontChanges(before.adapted?.front, after.adapted?.front),
      ],
      rest: ({ adapted, ...node }, other) => {
        const { front, ...rest } = adapted ?? {};
        return [tokenComparison.rest(node, other), rest, restOfFront(front)];
      },
    },
  },
  lowering: {
    merge: "replace",
    lower: (given, origin) => {
      const location = childOf(origin, "authorizationLocation");
      const provider = IDENTITY_PROVIDERS.find((name) => Object.hasOwn(given.provider ?? {}, name));
      const secret = given.clientSecret;
      return {
        mode: given.mode ?? "strict",
        location: lowerCredentialLocation(given.authorizationLocation, "Bearer", location),
        issuer: given.issuer,
        audiences: given.audiences ?? [],
        requiredClaims: lowerRequiredClaims(given.jwtValidationOptions),
        jwks: given.jwks === undefined ? undefined : lowerJwks(given.jwks, childOf(origin, "jwks")),
        provider,
        resourceMetadata: given.resourceMetadata ?? {},
        clientId: given.clientId,
        clientSecret:
          secret === undefined
            ? undefined
            : readSecretValue(secret, childOf(origin, "clientSecret")),
        front:
          given.authorizationServer &&
          lowerFront(given.authorizationServer, childOf(origin, "authorizationServer")),
      };
    },
    resolve: (config, context) => {
      const at = { ...context.origin, part: "key" } as const;
      if (context.route.policies.includes("jwtAuth")) {
        context.diagnostics.report("two-token-checks", at, {});
        return undefined;
      }
      const { mode, issuer } = config;
      if (typeof issuer === "string" && !/^https?:\/\/[^/]/.test(issuer)) {
        const params = { field: '"issuer"', expected: "the URL of the authorization server" };
        context.diagnostics.report("bad-format", childOf(context.origin, "issuer"), params);
        return undefined;
      }
      const jwks = config.jwks ?? keysOfIssuer(config, context);
      const providers = jwks && resolveProviders([{ ...config, jwks }], context);
      const location = resolveCredentialLocation(config.location, context);
      const resourceMetadata = Object.fromEntries(
        Object.entries(config.resourceMetadata).map(([key, value]) => [snakeCase(key), value]),
      );
      const scopes = scopesIn(resourceMetadata.scopes_supported);
      const adapted = adaptedServer(config, scopes, context);
      if (providers === undefined || location === undefined || adapted === "mistake")
        return undefined;
      return {
        mode,
        location,
        providers,
        issuer,
        adapted,
        resourceMetadata,
        challengeScope: challengeScope(scopes),
      };
    },
  },
  kubernetes: {
    field: "backend.mcp.authentication",
    schema: kubernetesSchema,
    lower: lowerKubernetes,
  },
};

/** Well-known URIs that are followed by the path of the resource (RFC 9728 3.1, RFC 8414 3.1 and 5). */
const WELL_KNOWN = [
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
];

/** Returns the paths of the OAuth metadata for a route's paths, so that users need not list them. */
function metadataPrefixes(
  matches: readonly PathMatch[],
  { adapted }: McpAuthenticationNode,
): readonly string[] {
  // A prefix `/` already includes the metadata's URLs. For the resource `/`, nothing follows the well-known URI.
  const resources = matches.flatMap(({ kind, value }) => {
    if (kind === "regex" || (kind === "prefix" && value === "/")) return [];
    return [value === "/" ? "" : value];
  });
  const described = [...new Set(resources)].flatMap((path) =>
    WELL_KNOWN.map((name) => `${name}${path}`),
  );
  if (adapted?.front === undefined) return described;
  const { pathname } = new URL(adapted.front.url);
  const [, ...ofServers] = WELL_KNOWN;
  return [...described, ...ofServers.map((name) => `${name}${pathname}`), pathname];
}

/** Returns the scopes of a resource's metadata. */
function scopesIn(supported: Json | undefined): readonly string[] {
  if (!Array.isArray(supported)) return [];
  return supported.filter((scope) => typeof scope === "string" && SCOPE.test(scope));
}

/**
 * Returns the scopes for a challenge, separated by spaces. `offline_access` is not a scope of the resource (MCP
 * 2026-07-28, authorization).
 */
function challengeScope(scopes: readonly string[]): string | undefined {
  const own = scopes.filter((scope) => scope !== "offline_access");
  return own.length === 0 ? undefined : own.join(" ");
}

/** One scope (RFC 6749 3.3). */
const SCOPE = /^[!#-[\]-~]+$/;

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

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
  const { clientSecretRef: secret } = given;
  const at = childOf(origin, "clientSecretRef");
  const [file] =
    secret === undefined
      ? []
      : context.secretFiles(secret.name, [secret.key ?? "clientSecret"], "clientSecret", at);
  return {
    mode: fileWord(given.mode ?? "Strict"),
    location: defaultLocation("Bearer"),
    issuer: given.issuer,
    audiences: given.audiences ?? [],
    requiredClaims: ["exp"],
    jwks,
    ...readKubernetesOAuth(given),
    clientSecret:
      file === undefined ? undefined : { value: { kind: "secret", file }, valueOrigin: at },
    front:
      given.authorizationServer &&
      lowerFront(given.authorizationServer, childOf(origin, "authorizationServer")),
  };
}
