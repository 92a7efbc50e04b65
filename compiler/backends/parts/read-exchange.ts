import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { ServerPolicies } from "../../model/server-policies.ts";
import type {
  ClientCredentialsConfig,
  TokenEndpointConfig,
  TokenExchangeConfig,
  TokenSourceConfig,
} from "../../model/token-exchange.ts";
import { parseTimer } from "../../schema/duration.ts";
import type { Infer, ObjectValue, Schema } from "../../schema/schema.ts";
import type { clientCredentialsFields, tokenSourceSchema } from "./exchange-schema.ts";
import { readSentPlace } from "./sent-credentials.ts";

const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const MAX_TOKENS = 8192;
/** Lifetime of tokens by default. */
export const DEFAULT_LIFETIME = "300s";

/** Reads the fields that both forms have, with their defaults. */
export function sharedFields(
  value: Infer<Schema<SharedValue>>,
  origin: Origin,
): Pick<
  TokenExchangeConfig<ServerPolicies>,
  "kind" | "audiences" | "scopes" | "resources" | "parameters" | "maxTokens" | "defaultLifetime"
> {
  const { cache = {}, additionalParams = {} } = value;
  return {
    kind: "tokenExchange",
    audiences: value.audiences ?? [],
    scopes: value.scopes ?? [],
    resources: value.resources ?? [],
    parameters: Object.entries(additionalParams).map(([name, source]) => ({
      name,
      text: source,
      origin: childOf(origin, "additionalParams", name),
    })),
    maxTokens: cache.maxEntries ?? MAX_TOKENS,
    defaultLifetime: parseTimer(cache.defaultTtl ?? DEFAULT_LIFETIME) ?? 0,
  };
}

interface SharedValue {
  readonly audiences?: readonly string[];
  readonly scopes?: readonly string[];
  readonly resources?: readonly string[];
  readonly additionalParams?: Readonly<Record<string, string>>;
  readonly cache?: { readonly maxEntries?: number; readonly defaultTtl?: string } | undefined;
}

/** Default place of tokens. */
export const BEARER = { header: "authorization", prefix: "Bearer " } as const;

/** Returns the exchange of `crossAppAccess`: an assertion of the identity provider, and a token for it. */
export function crossAppExchange(
  value: Omit<SharedValue, "audiences"> & {
    readonly audience: string;
    readonly accessTokenScopes?: readonly string[];
  },
  origin: Origin,
  {
    first,
    next,
    subject,
    subjectType = ID_TOKEN,
  }: {
    readonly first: TokenEndpointConfig<ServerPolicies>;
    readonly next: TokenEndpointConfig<ServerPolicies>;
    readonly subject: TokenSourceConfig;
    readonly subjectType?: string;
  },
): TokenExchangeConfig<ServerPolicies> {
  const shared = sharedFields(value, origin);
  return {
    ...shared,
    ...first,
    audiences: [value.audience],
    grant: "tokenExchange",
    subject,
    subjectType,
    requestedType: ID_JAG,
    next: { ...next, scopes: value.accessTokenScopes ?? shared.scopes },
    target: BEARER,
  };
}

/** The token that a policy has verified: it is in its place again when the backend is called. */
const VERIFIED = "jwt.rawToken.unredacted()";

/** Reads the location of a token; `Authorization: Bearer` by default. */
export function readTokenSource(
  source: Infer<ReturnType<typeof tokenSourceSchema>> | undefined,
  origin: Origin,
): TokenSourceConfig {
  const { header, cookie, queryParameter, expression: text } = source ?? {};
  if (cookie !== undefined) return { cookie: cookie.name };
  if (queryParameter !== undefined) return { queryParameter: queryParameter.name };
  if (text !== undefined && text.replaceAll(/\s/g, "") !== VERIFIED)
    return { expression: { text, origin: childOf(origin, "expression") } };
  if (header === undefined) return BEARER;
  const { name, prefix = "" } = header;
  return { header: name.toLowerCase(), prefix: prefix === "" ? "" : `${prefix.trimEnd()} ` };
}

/** Reads the fields of `clientCredentials` that both forms have, with their defaults. */
export function clientCredentialsParts({
  audiences = [],
  scopes = [],
  resources = [],
  defaultTtl = DEFAULT_LIFETIME,
  location,
}: ClientCredentialsValue): Omit<
  ClientCredentialsConfig<ServerPolicies>,
  keyof TokenEndpointConfig<unknown>
> {
  return {
    ...{ kind: "clientCredentials", audiences, scopes, resources },
    defaultLifetime: parseTimer(defaultTtl) ?? 0,
    target: readSentPlace(location) ?? BEARER,
  };
}

type ClientCredentialsValue = ObjectValue<ReturnType<typeof clientCredentialsFields>, never>;
