import type { ConfigValue } from "../1-parse/values.ts";
import { resolveConnection } from "../2-resolve/backend-connection.ts";
import { below, type Origin } from "../diagnostics.ts";
import type { BackendConnection, Text } from "../ir.ts";
import { choice, list, notYet, object, type Schema, shortText } from "../schema.ts";
import {
  type JwksConfig,
  jwksSchema,
  type PublicJwk,
  publicKeys,
  readClusterJwks,
  readJwks,
} from "./jwks.ts";
import type { ClusterContext, Policy, PolicyConfigs, ResolveContext } from "./policy.ts";

/** What happens to a request without a valid token. */
export type JwtMode = "strict" | "optional" | "permissive";

/** An issuer as configured. */
export interface JwtProviderConfig {
  readonly issuer: Text;
  readonly audiences: readonly string[];
  readonly jwks: JwksConfig;
}

/** An issuer, its keys known or their address. */
export interface JwtProviderNode {
  readonly issuer: Text;
  readonly audiences: readonly string[];
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

declare module "./policy.ts" {
  interface PolicyConfigs {
    jwtAuth: { readonly mode: JwtMode; readonly providers: readonly JwtProviderConfig[] };
  }
}

declare module "../ir.ts" {
  interface PolicySettings {
    jwtAuth: { readonly mode: JwtMode; readonly providers: readonly JwtProviderNode[] };
  }
}

/** The shape of `mode`. */
export const modeSchema: Schema = choice(
  "strict: a valid token is needed; optional: a request without a token passes; permissive: nothing is refused.",
  ["strict", "optional", "permissive"],
  { default: "strict" },
);

/** The shape of `audiences`. */
export const audiencesSchema: Schema = list(shortText("An audience."), {
  minItems: 1,
  maxItems: 64,
  description: "The token must be for one of these (`aud`); any audience when unset.",
});

const providerProperties: Readonly<Record<string, Schema>> = {
  issuer: shortText("The token's issuer (`iss`), exactly.", { late: true }),
  audiences: audiencesSchema,
  jwks: jwksSchema,
  jwtValidationOptions: notYet("a choice of required claims"),
};

/** Verified identity from a bearer token (RFC 7519, RFC 8725). */
export const jwtAuth: Policy<"jwtAuth"> = {
  kind: "jwtAuth",
  summary:
    "verifies bearer tokens (issuer, audience, expiry, signature); their claims are `jwt` in rules",
  scope: ["route"],
  schema: object(
    {
      mode: modeSchema,
      ...providerProperties,
      providers: list(object(providerProperties, { required: ["issuer", "jwks"] }), {
        minItems: 1,
        maxItems: 64,
        description: "Several issuers; the token's own issuer picks one.",
      }),
      location: notYet("another place of the token"),
    },
    {
      exactlyOneOf: ["issuer", "providers"],
      description: "Requires, or accepts, a JSON Web Token.",
    },
  ),
  merge: "replace",
  read: (value, origin) => {
    const given = value as { readonly mode?: JwtMode; readonly providers?: readonly ConfigValue[] };
    const providers = given.providers?.map((each, index) =>
      readProvider(each, below(origin, "providers", index)),
    );
    return { mode: given.mode ?? "strict", providers: providers ?? [readProvider(value, origin)] };
  },
  cluster: { field: "traffic.jwtAuthentication", read: readCluster },
  resolve: ({ mode, providers }, context) => {
    const resolved = resolveProviders(providers, context);
    return resolved === undefined ? undefined : { mode, providers: resolved };
  },
};

/** The issuers with their keys; undefined when a key set is refused (reported). */
export function resolveProviders(
  providers: readonly JwtProviderConfig[],
  context: ResolveContext,
): readonly JwtProviderNode[] | undefined {
  const resolved = providers.flatMap(({ issuer, audiences, jwks }): JwtProviderNode[] => {
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
      return [{ issuer, audiences, keys }];
    }
    const keys = publicKeys(jwks, context);
    return keys === undefined ? [] : [{ issuer, audiences, keys: { kind: "inline", keys } }];
  });
  return resolved.length === providers.length ? resolved : undefined;
}

function readProvider(value: ConfigValue, origin: Origin): JwtProviderConfig {
  const given = value as {
    readonly issuer: Text;
    readonly audiences?: readonly string[];
    readonly jwks?: ConfigValue;
  };
  return {
    issuer: given.issuer,
    audiences: given.audiences ?? [],
    jwks:
      given.jwks === undefined
        ? { kind: "url", url: "", cacheDuration: 0, origin }
        : readJwks(given.jwks, below(origin, "jwks")),
  };
}

/** `JWTAuthentication` of the specification. */
function readCluster(
  value: ConfigValue,
  context: ClusterContext,
): PolicyConfigs["jwtAuth"] | undefined {
  const given = value as {
    readonly mode?: ClusterMode;
    readonly providers: readonly {
      readonly issuer: string;
      readonly audiences?: readonly string[];
      readonly jwks: ConfigValue;
    }[];
  };
  const providers = given.providers.flatMap(({ issuer, audiences, jwks }, index) => {
    const at = below(context.origin, "providers", index, "jwks");
    const keys = readClusterJwks(jwks, at, context);
    return keys === undefined ? [] : [{ issuer, audiences: audiences ?? [], jwks: keys }];
  });
  if (providers.length < given.providers.length) return undefined;
  return { mode: clusterMode(given.mode), providers };
}

/** A mode as resources spell it. */
export type ClusterMode = "Strict" | "Optional" | "Permissive";

/** Its canonical name; strict unless it says. */
export function clusterMode(mode: ClusterMode | undefined): JwtMode {
  return ({ Strict: "strict", Optional: "optional", Permissive: "permissive" } as const)[
    mode ?? "Strict"
  ];
}
