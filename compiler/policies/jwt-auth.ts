import type { ConfigValue } from "../1-parse/values.ts";
import { resolveConnection } from "../backends/parts/connection.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../ir/connections.ts";
import type { Text } from "../ir/texts.ts";
import { choice, list, object, shortText } from "../schema/schema.ts";
import {
  type JwksConfig,
  jwksSchema,
  type PublicJwk,
  publicKeys,
  readJwks,
  readKubernetesJwks,
} from "./jwt-auth/jwks.ts";
import {
  type CredentialLocationConfig,
  type CredentialLocationNode,
  credentialLocationSchema,
  defaultLocation,
  readCredentialLocation,
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
export function readRequiredClaims(value: ConfigValue | undefined): readonly string[] {
  const given = value as { readonly requiredClaims?: readonly string[] } | undefined;
  return given?.requiredClaims ?? ["exp"];
}

const providerProperties = {
  issuer: shortText("The token's issuer (`iss`), exactly.", { readAtStart: true }),
  audiences: audiencesSchema,
  jwks: jwksSchema,
  jwtValidationOptions: validationSchema,
};

/** Verified identity from a bearer token (RFC 7519, RFC 8725). */
export const jwtAuth: Policy<"jwtAuth", JwtAuthConfig, JwtAuthNode> = {
  kind: "jwtAuth",
  summary:
    "verifies bearer tokens (issuer, audience, expiry, signature); their claims are `jwt` in rules",
  scope: ["listener", "route"],
  schema: object(
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
      description: "Requires, or accepts, a JSON Web Token.",
    },
  ),
  names: ["jwtAuth", "findToken"],
  identity: "jwt",
  merge: "replace",
  read: (value, origin) => {
    const given = value as {
      readonly mode?: JwtMode;
      readonly location?: ConfigValue;
      readonly providers?: readonly ConfigValue[];
    };
    const providers = given.providers?.map((each, index) =>
      readProvider(each, childOf(origin, "providers", index)),
    );
    return {
      mode: given.mode ?? "strict",
      location: readCredentialLocation(given.location, "Bearer", childOf(origin, "location")),
      providers: providers ?? [readProvider(value, origin)],
    };
  },
  kubernetes: { field: "traffic.jwtAuthentication", read: readKubernetes },
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

function readProvider(value: ConfigValue, origin: Origin): JwtProviderConfig {
  const given = value as {
    readonly issuer: Text;
    readonly audiences?: readonly string[];
    readonly jwks?: ConfigValue;
    readonly jwtValidationOptions?: ConfigValue;
  };
  return {
    issuer: given.issuer,
    audiences: given.audiences ?? [],
    requiredClaims: readRequiredClaims(given.jwtValidationOptions),
    jwks:
      given.jwks === undefined
        ? { kind: "url", url: "", cacheDuration: 0, origin }
        : readJwks(given.jwks, childOf(origin, "jwks")),
  };
}

/** `JWTAuthentication` of the specification. */
function readKubernetes(value: ConfigValue, context: KubernetesContext): JwtAuthConfig | undefined {
  const given = value as {
    readonly mode?: KubernetesMode;
    readonly providers: readonly {
      readonly issuer: string;
      readonly audiences?: readonly string[];
      readonly jwks: ConfigValue;
    }[];
  };
  const providers = given.providers.flatMap(({ issuer, audiences, jwks }, index) => {
    const at = childOf(context.origin, "providers", index, "jwks");
    const keys = readKubernetesJwks(jwks, at, context);
    return keys === undefined
      ? []
      : [{ issuer, audiences: audiences ?? [], requiredClaims: ["exp"], jwks: keys }];
  });
  if (providers.length < given.providers.length) return undefined;
  return { mode: kubernetesMode(given.mode), location: defaultLocation("Bearer"), providers };
}

/** A mode as resources spell it. */
export type KubernetesMode = "Strict" | "Optional" | "Permissive";

/** Its canonical name; strict unless it says. */
export function kubernetesMode(mode: KubernetesMode | undefined): JwtMode {
  return ({ Strict: "strict", Optional: "optional", Permissive: "permissive" } as const)[
    mode ?? "Strict"
  ];
}
