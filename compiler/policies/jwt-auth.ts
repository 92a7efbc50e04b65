import { resolveConnection } from "../backends/parts/connection.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../model/connections.ts";
import type { Text } from "../model/texts.ts";
import {
  anyText,
  choice,
  type Infer,
  list,
  needsField,
  type ObjectValue,
  object,
  shortText,
} from "../schema/schema.ts";
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
  type CredentialLocationConfig,
  type CredentialLocationNode,
  credentialLocationSchema,
  lowerCredentialLocation,
  resolveCredentialLocation,
} from "./parts/credential-location.ts";
import type { KubernetesContext, Policy, ResolveContext } from "./policy.ts";

/** What happens to a request without a valid token. */
export type JwtMode = "strict" | "optional" | "permissive";

/** An issuer as configured. */
export interface JwtProviderConfig {
  readonly issuer: Text;
  readonly audiences: readonly string[];
  readonly jwks: JwksConfig;
  /** Claims that a token must have. */
  readonly requiredClaims: readonly string[];
}

/** An issuer, its keys known or their address. */
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
        /** How the server is reached; absent: as the URL says. */
        readonly connection?: BackendConnection;
      };
}

/** `jwtAuth` as configured. */
interface JwtAuthConfig {
  readonly mode: JwtMode;
  readonly location: CredentialLocationConfig;
  readonly providers: readonly JwtProviderConfig[];
}

/** `jwtAuth` resolved. */
interface JwtAuthNode {
  readonly mode: JwtMode;
  readonly location: CredentialLocationNode;
  readonly providers: readonly JwtProviderNode[];
}

/** The shape of `mode`. */
export const modeSchema = choice(
  "strict: a valid token is needed; optional: a request without a token passes; permissive: nothing is refused.",
  ["strict", "optional", "permissive"],
  { default: "strict" },
);

/** The shape of `audiences`. */
export const audiencesSchema = list(shortText("An audience."), {
  minItems: 1,
  maxItems: 64,
  description: "The token must be for one of these (`aud`); any audience when unset.",
});

/** The shape of `jwtValidationOptions`. */
export const validationSchema = object(
  {
    requiredClaims: list(choice("A claim.", ["exp", "nbf", "aud", "iss", "sub"]), {
      uniqueItems: true,
      description:
        "Claims that a token must have; `exp` by default. Those that are there are checked in any case.",
    }),
  },
  { description: "What a token must say of itself." },
);

/** A validated `jwtValidationOptions`. */
export function lowerRequiredClaims(
  given: Infer<typeof validationSchema> | undefined,
): readonly string[] {
  return given?.requiredClaims ?? ["exp"];
}

const providerProperties = {
  issuer: shortText("The token's issuer (`iss`), exactly.", {
    readAtStart: true,
    examples: ["https://issuer.example.com"],
  }),
  audiences: audiencesSchema,
  jwks: jwksSchema,
  jwtValidationOptions: validationSchema,
};

const KEY_SET =
  "write jwks: { url: https://issuer.example.com/jwks.json }, or jwks: { file: PATH }";

const schema = object(
  {
    mode: modeSchema,
    ...providerProperties,
    providers: list(object(providerProperties, { required: ["issuer", "jwks"] }), {
      minItems: 1,
      maxItems: 64,
      description: "Several issuers; the token's own issuer picks one.",
    }),
    location: credentialLocationSchema("Bearer"),
  },
  {
    exactlyOneOf: ["issuer", "providers"],
    misplacedFieldHints: { jwksUri: KEY_SET, jwksUrl: KEY_SET, jwksFile: KEY_SET, keys: KEY_SET },
    checks: ["audiences", "jwks", "jwtValidationOptions"].map((field) =>
      needsField(field, "issuer"),
    ),
    description: "Requires, or accepts, a JSON Web Token.",
    examples: [
      {
        issuer: "https://issuer.example.com",
        audiences: ["shop.example.com"],
        jwks: { url: "https://issuer.example.com/jwks.json" },
      },
    ],
  },
);

/** What happens without a valid token, as manifests spell it. */
export const tokenMode = choice(
  "What happens without a valid token.",
  ["Strict", "Optional", "Permissive"],
  { default: "Strict" },
);

/** What happens without a credential, as manifests spell it. */
export const identityMode = choice("What happens without a credential.", ["Strict", "Optional"], {
  default: "Strict",
});

const kubernetesSchema = object(
  {
    mode: tokenMode,
    providers: list(
      object(
        {
          issuer: shortText("The token's issuer (`iss`), exactly."),
          audiences: list(anyText(), {
            minItems: 1,
            maxItems: 64,
            description: "Of these the token names one (`aud`); without it any will do.",
          }),
          jwks: kubernetesJwksSchema,
        },
        { required: ["issuer", "jwks"] },
      ),
      { minItems: 1, maxItems: 64, description: "Who issues the tokens." },
    ),
    location: credentialLocationSchema("Bearer"),
  },
  { required: ["providers"] },
);

/** Verified identity from a bearer token (RFC 7519, RFC 8725). */
export const jwtAuth: Policy<
  "jwtAuth",
  JwtAuthConfig,
  JwtAuthNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "jwtAuth",
  summary:
    "verifies bearer tokens (issuer, audience, expiry, signature); their claims are `jwt` in rules",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  schema,
  names: ["jwtAuth", "findToken"],
  identity: "jwt",
  passesAnonymous: ({ mode }) => mode !== "strict",
  credential: ({ mode, location }) => ({ kind: "token", mode, location }),
  direction: "closes",
  access: ({ mode, providers }) => [tokenCheck(mode, providers)],
  compare: tokenComparison,
  merge: "replace",
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
  kubernetes: {
    field: "traffic.jwtAuthentication",
    schema: kubernetesSchema,
    lower: lowerKubernetes,
  },
  resolve: ({ mode, location, providers }, context) => {
    const resolved = resolveProviders(providers, context);
    const where = resolveCredentialLocation(location, context);
    if (resolved === undefined || where === undefined) return undefined;
    return { mode, location: where, providers: resolved };
  },
};

/** The issuers with their keys; undefined when a key set is refused (reported). */
export function resolveProviders(
  providers: readonly JwtProviderConfig[],
  context: ResolveContext,
): readonly JwtProviderNode[] | undefined {
  const resolved = providers.flatMap((provider): JwtProviderNode[] => {
    const { issuer, audiences, requiredClaims, jwks } = provider;
    const said = { issuer, audiences, requiredClaims };
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
      return [{ ...said, keys }];
    }
    const keys = publicKeys(jwks, context);
    return keys === undefined ? [] : [{ ...said, keys: { kind: "inline", keys } }];
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

/** `JWTAuthentication` of the specification. */
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
  return {
    mode: kubernetesMode(given.mode),
    location: lowerCredentialLocation(
      given.location,
      "Bearer",
      childOf(context.origin, "location"),
    ),
    providers,
  };
}

/** Its canonical name; strict unless it says. */
export function kubernetesMode(mode: Infer<typeof tokenMode> | undefined): JwtMode {
  return ({ Strict: "strict", Optional: "optional", Permissive: "permissive" } as const)[
    mode ?? "Strict"
  ];
}
