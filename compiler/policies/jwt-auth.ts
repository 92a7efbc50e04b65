import { resolveConnection } from "../backends/parts/connection.ts";
import { childOf, keyPlace, type Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../model/connections.ts";
import type { Text } from "../model/texts.ts";
import {
  anyText,
  type Infer,
  list,
  type ObjectValue,
  object,
  shortText,
} from "../schema/schema.ts";
import { fileWord, wordsOfForms } from "../schema/two-forms.ts";
import { needsField } from "../schema/value-checks.ts";
import {
  type JwksConfig,
  jwksSchema,
  kubernetesJwksSchema,
  lowerJwks,
  lowerKubernetesJwks,
  type PublicJwk,
  publicKeys,
} from "./jwt-auth/jwks.ts";
import { tokenCheck, tokenComparison } from "./jwt-auth/token-access.ts";
import {
  kubernetesOAuthFields,
  type OAuthConfig,
  readKubernetesOAuth,
} from "./mcp-authentication/oauth-fields.ts";
import {
  type CredentialLocationConfig,
  type CredentialLocationNode,
  credentialLocationSchema,
  lowerCredentialLocation,
  proxyLocation,
  resolveCredentialLocation,
} from "./parts/credential-location.ts";
import type { KubernetesContext, Policy, ResolveContext } from "./policy.ts";

/** Treatment of requests without a valid token. */
export type JwtMode = "strict" | "optional" | "permissive";

/** A token issuer, as configured. */
export interface JwtProviderConfig {
  readonly issuer: Text;
  readonly audiences: readonly string[];
  readonly jwks: JwksConfig;
  /** Claims that a token must have. */
  readonly requiredClaims: readonly string[];
}

/** A token issuer with its keys, or with the URL to fetch them from. */
export interface JwtProviderNode {
  readonly issuer: Text;
  readonly audiences: readonly string[];
  readonly requiredClaims: readonly string[];
  readonly keys:
    | { readonly kind: "inline"; readonly keys: readonly PublicJwk[] }
    | {
        readonly kind: "remote";
        readonly url: Text;
        readonly cacheDuration: number;
        /** How to connect to the server; absent if the URL alone defines it. */
        readonly connection?: BackendConnection;
      };
}

/** `jwtAuth` as configured. */
interface JwtAuthConfig {
  readonly mode: JwtMode;
  readonly location: CredentialLocationConfig;
  readonly providers: readonly JwtProviderConfig[];
  /** OAuth metadata on routes of MCP servers; absent if none is served. */
  readonly mcp?: OAuthConfig;
}

/** `jwtAuth` resolved. */
interface JwtAuthNode {
  readonly mode: JwtMode;
  readonly location: CredentialLocationNode;
  readonly providers: readonly JwtProviderNode[];
}

/** Description and words of `mode`: the treatment of requests without a valid token. */
export const TOKEN_MODE = [
  "`strict` requires a valid token; `optional` also lets requests without a token pass; `permissive` refuses nothing.",
  ["strict", "optional", "permissive"],
] as const;

/** Schemas of `mode`. */
export const tokenMode = wordsOfForms(...TOKEN_MODE, "strict");

/** Schema of the treatment of requests without another credential, in manifests. */
export const credentialMode = wordsOfForms(
  "`strict` requires a credential; `optional` also lets requests without one pass.",
  ["strict", "optional"],
  "strict",
).manifest;

const AUDIENCES = {
  minItems: 1,
  maxItems: 64,
  description:
    "Accepted audiences: the token's `aud` must contain one of them. Any audience by default.",
};

/** Schemas of `audiences`. */
export const audiences = {
  file: list(shortText("An audience."), AUDIENCES),
  manifest: list(anyText(), AUDIENCES),
};

const ISSUER = "The token's issuer: must equal its `iss` exactly.";

/** Schema of `jwtValidationOptions`. */
export const validationSchema = object(
  {
    requiredClaims: list(shortText("Name of a claim."), {
      uniqueItems: true,
      maxItems: 32,
      description:
        "Claims that a token must have, by their names; `exp` by default. The values of `exp`, `nbf`, `aud` and `iss` are always checked.",
    }),
  },
  { description: "Which claims a token must have." },
);

/** Reads `jwtValidationOptions`. */
export function lowerRequiredClaims(
  given: Infer<typeof validationSchema> | undefined,
): readonly string[] {
  return given?.requiredClaims ?? ["exp"];
}

const providerProperties = {
  issuer: shortText(ISSUER, {
    readAtStart: true,
    examples: ["https://issuer.example.com"],
  }),
  audiences: audiences.file,
  jwks: jwksSchema,
  jwtValidationOptions: validationSchema,
};

const KEY_SET =
  "write jwks: { url: https://issuer.example.com/jwks.json }, or jwks: { file: PATH }";

const schema = object(
  {
    mode: tokenMode.file,
    ...providerProperties,
    providers: list(object(providerProperties, { required: ["issuer", "jwks"] }), {
      minItems: 1,
      maxItems: 64,
      description: "Several issuers; the one named by the token's `iss` applies.",
    }),
    location: credentialLocationSchema("Bearer"),
  },
  {
    exactlyOneOf: ["issuer", "providers"],
    misplacedFieldHints: { jwksUri: KEY_SET, jwksUrl: KEY_SET, jwksFile: KEY_SET, keys: KEY_SET },
    checks: ["audiences", "jwks", "jwtValidationOptions"].map((field) =>
      needsField(field, "issuer"),
    ),
    description: "Requires a JSON Web Token, or verifies one if it is sent (`mode`).",
    examples: [
      {
        issuer: "https://issuer.example.com",
        audiences: ["shop.example.com"],
        jwks: { url: "https://issuer.example.com/jwks.json" },
      },
    ],
  },
);

const kubernetesSchema = object(
  {
    mode: tokenMode.manifest,
    providers: list(
      object(
        {
          issuer: shortText(ISSUER),
          audiences: audiences.manifest,
          jwks: kubernetesJwksSchema,
        },
        { required: ["issuer", "jwks"] },
      ),
      { minItems: 1, maxItems: 64, description: "Accepted token issuers." },
    ),
    location: credentialLocationSchema("Bearer"),
    mcp: object(kubernetesOAuthFields, {
      description:
        "Serves OAuth metadata on routes of MCP servers, as `backend.mcp.authentication` does. It requires exactly one provider.",
    }),
  },
  { required: ["providers"] },
);

/** Authenticates clients by a bearer token (RFC 7519, RFC 8725). */
export const jwtAuth: Policy<
  "jwtAuth",
  JwtAuthConfig,
  JwtAuthNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "jwtAuth",
  summary:
    "verifies bearer tokens (issuer, audience, expiry, signature); rules read their claims as `jwt`",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
  },
  schema,
  names: ["jwtAuth", "findToken"],
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
    forProxy: (config) => ({ ...config, location: proxyLocation(config.location) }),
    lower: (given, origin) => {
      const providers = given.providers?.map((each, index) =>
        lowerProvider(each, childOf(origin, "providers", index)),
      );
      return {
        mode: given.mode ?? "strict",
        location: lowerCredentialLocation(given.location, "Bearer", childOf(origin, "location")),
        providers: providers ?? [lowerProvider(given, origin)],
      };
    },
    resolve: ({ mode, location, providers, mcp }, context) => {
      if (mcp !== undefined && context.phase === "PreRouting") {
        const found = "requests before routing";
        const params = { field: '"mcp"', actsOn: "routes of MCP servers", found };
        context.diagnostics.report(
          "misplaced-field",
          keyPlace(childOf(context.origin, "mcp")),
          params,
        );
        return undefined;
      }
      const resolved = resolveProviders(providers, context);
      const where = resolveCredentialLocation(location, context);
      if (resolved === undefined || where === undefined) return undefined;
      return { mode, location: where, providers: resolved };
    },
  },
  kubernetes: {
    field: "traffic.jwtAuthentication",
    schema: kubernetesSchema,
    lower: lowerKubernetes,
  },
};

/** Resolves the issuers with their keys; returns `undefined` if a key set is refused (reported). */
export function resolveProviders(
  providers: readonly JwtProviderConfig[],
  context: ResolveContext,
): readonly JwtProviderNode[] | undefined {
  const resolved = providers.flatMap((provider): JwtProviderNode[] => {
    const { issuer, audiences, requiredClaims, jwks } = provider;
    const common = { issuer, audiences, requiredClaims };
    if (jwks.kind === "url") {
      if (jwks.url === "") {
        context.diagnostics.report(
          "missing-field",
          { ...jwks.origin, part: "key" },
          { owner: "jwtAuth", key: "jwks" },
        );
        return [];
      }
      const { url, cacheDuration, policies } = jwks;
      const connection = policies && resolveConnection(policies, context);
      const keys = {
        kind: "remote",
        url,
        cacheDuration,
        ...(connection && { connection }),
      } as const;
      return [{ ...common, keys }];
    }
    const keys = publicKeys(jwks, context);
    return keys === undefined ? [] : [{ ...common, keys: { kind: "inline", keys } }];
  });
  return resolved.length === providers.length ? resolved : undefined;
}

function lowerProvider(
  given: ObjectValue<typeof providerProperties, never>,
  origin: Origin,
): JwtProviderConfig {
  return {
    issuer: given.issuer ?? "",
    audiences: given.audiences ?? [],
    requiredClaims: lowerRequiredClaims(given.jwtValidationOptions),
    jwks:
      given.jwks === undefined
        ? { kind: "url", url: "", cacheDuration: 0, origin }
        : lowerJwks(given.jwks, childOf(origin, "jwks")),
  };
}

/** Reads the specification's `JWTAuthentication`. */
function lowerKubernetes(
  given: Infer<typeof kubernetesSchema>,
  context: KubernetesContext,
): JwtAuthConfig | undefined {
  const providers = given.providers.flatMap(({ issuer, audiences, jwks }, index) => {
    const at = childOf(context.origin, "providers", index, "jwks");
    const keys = lowerKubernetesJwks(jwks, at, context);
    return keys === undefined
      ? []
      : [{ issuer, audiences: audiences ?? [], requiredClaims: ["exp"], jwks: keys }];
  });
  if (providers.length < given.providers.length) return undefined;
  const { mcp } = given;
  if (mcp !== undefined && providers.length > 1) {
    const params = { field: '"providers"', expected: "a single issuer, because of `mcp`" };
    context.diagnostics.report("bad-format", childOf(context.origin, "providers"), params);
    return undefined;
  }
  return {
    mode: fileWord(given.mode ?? "Strict"),
    location: lowerCredentialLocation(
      given.location,
      "Bearer",
      childOf(context.origin, "location"),
    ),
    providers,
    ...(mcp && { mcp: readKubernetesOAuth(mcp) }),
  };
}
