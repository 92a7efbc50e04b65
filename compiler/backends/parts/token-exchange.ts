import type { TokenSource } from "../../../runtime/auth/oauth/token-exchange.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../../model/connections.ts";
import { forwardUrl } from "../../model/host-url.ts";
import type { SecretContext } from "../../model/literal-secrets.ts";
import type { ServerPolicies } from "../../model/server-policies.ts";
import type { Text } from "../../model/texts.ts";
import type {
  SignedTokenConfig,
  TokenEndpointConfig,
  TokenEndpointNode,
  TokenExchangeConfig,
  TokenExchangeNode,
} from "../../model/token-exchange.ts";
import { parseTimer } from "../../schema/duration.ts";
import {
  boolean,
  choice,
  duration,
  expression,
  type Infer,
  integer,
  json,
  list,
  map,
  needsField,
  object,
  type Schema,
  shortText,
  text,
  unsupported,
  unsupportedBut,
  type ValueCheck,
} from "../../schema/schema.ts";
import {
  clientAuthSchema,
  readClientAuth,
  readSigner,
  resolveClient,
  signerFields,
  signingKeySchema,
} from "./client-authentication.ts";
import { resolveExpression } from "./expressions.ts";
import { headerNameSchema, TOKEN_PATTERN } from "./header-fields.ts";
import { readSentPlace, sentPlaceSchema } from "./sent-credentials.ts";
import type { FileLookup } from "./tls-files.ts";

const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const JWT = "urn:ietf:params:oauth:token-type:jwt";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
/** Descriptions of fields that both forms have. */
export const EXCHANGE_TEXTS = {
  cache: "Cache of exchanged tokens, which never outlive their lifetime.",
  prefix: "Prefix before the token, such as `Bearer `; empty by default.",
  identityProvider: "Token endpoint of the identity provider of the users.",
  resourceServer: "Token endpoint of the backend's authorization server.",
  audience: "Identifier of the backend's authorization server.",
  location: "Location of the token; `Authorization: Bearer` by default.",
} as const;
const MAX_TOKENS = 8192;
const DEFAULT_LIFETIME = "300s";

/** Returns the schemas of the fields that both forms have. */
export function exchangeFields(time: (description: string) => Schema<string>) {
  const listed = (what: string) =>
    list(text(what, { maxLength: 1024 }), { minItems: 1, maxItems: 64, description: what });
  return {
    path: text("Path of the token endpoint.", {
      maxLength: 1024,
      pattern: "^/[^?#\\s]*$",
      form: "a path",
    }),
    audiences: listed("Audiences of the token (`audience`)."),
    scopes: listed("Scopes of the token (`scope`)."),
    resources: listed("URIs of the resources that the token is used for (`resource`)."),
    additionalParams: map(expression("A CEL expression without variables: a string in quotes."), {
      maxProperties: 64,
      description: "Additional parameters of the token request.",
    }),
    cache: object(
      {
        maxEntries: integer(
          "Maximum number of cached tokens; 0 disables the cache.",
          0,
          1_000_000,
          {
            default: MAX_TOKENS,
          },
        ),
        defaultTtl: time("How long a token is cached if the server returns no lifetime."),
      },
      {
        minProperties: 1,
        description: EXCHANGE_TEXTS.cache,
      },
    ),
  };
}

/** Returns the schema of the location of the exchanged token. */
export function exchangeTargetSchema() {
  return sentPlaceSchema("Location of the exchanged token; `Authorization: Bearer` by default.");
}

/** Returns the checks of the fields; `jwtBearer` is the form's name for the grant of RFC 7523. */
export function exchangeChecks(jwtBearer: string): readonly ValueCheck[] {
  return [
    {
      message: '"actorToken" cannot be used with a JWT bearer grant: it is a parameter of RFC 8693',
      field: "actorToken",
      holds: ({ actorToken, grantType }) => actorToken === undefined || grantType !== jwtBearer,
      cel: `!has(self.actorToken) || !has(self.grantType) || self.grantType != '${jwtBearer}'`,
    },
    {
      message:
        '"requestedTokenType" cannot be used with a JWT bearer grant: it is a parameter of RFC 8693',
      field: "requestedTokenType",
      holds: ({ requestedTokenType, grantType }) =>
        requestedTokenType === undefined || grantType !== jwtBearer,
      cel: `!has(self.requestedTokenType) || !has(self.grantType) || self.grantType != '${jwtBearer}'`,
    },
  ];
}

const tokenType = (description: string) =>
  text(description, {
    maxLength: 1024,
    pattern: "^[A-Za-z][A-Za-z0-9+.\\-]*:[^\\s#]+$",
    form: "the URI of a token type",
    examples: [ACCESS_TOKEN],
  });

function tokenSourceSchema(description: string) {
  return object(
    {
      header: object(
        {
          name: headerNameSchema,
          prefix: shortText(EXCHANGE_TEXTS.prefix),
        },
        { required: ["name"], description: "In a header." },
      ),
      cookie: object(
        {
          name: shortText("The cookie's name.", { pattern: TOKEN_PATTERN, form: "a cookie name" }),
        },
        { required: ["name"], description: "In a cookie." },
      ),
      expression: choice("The token verified by a policy.", ["jwt.rawToken.unredacted()"]),
      queryParameter: unsupportedBut("tokens in URLs", "take it from a header"),
    },
    { exactlyOneOf: ["header", "cookie", "expression", "queryParameter"], description },
  );
}

function endpointFields() {
  return {
    host: text("Authorization server: `host:port` or a URL.", {
      readAtStart: true,
      examples: ["https://login.example.com"],
    }),
    backend: unsupportedBut("authorization servers by the name of a backend", "write its host"),
    service: unsupported("mesh services"),
    policies: unsupportedBut("policies of an authorization server", "write https:// in its host"),
  };
}

const SERVERS = ["host", "backend", "service"] as const;

function fileTime(description: string): Schema<string> {
  return duration(description, { default: DEFAULT_LIFETIME, minimumDuration: "1s" });
}

/** Returns the schema of `oauthTokenExchange` in a file. */
export function tokenExchangeSchema() {
  return object(
    {
      ...exchangeFields(fileTime),
      ...endpointFields(),
      grantType: choice(
        "`tokenExchange` (RFC 8693), or `jwtBearer` (RFC 7523) with the client's token as assertion.",
        ["tokenExchange", "jwtBearer"],
        { default: "tokenExchange" },
      ),
      subjectToken: object(
        {
          source: tokenSourceSchema(
            "Location of the token; `Authorization: Bearer` by default, even if jwtAuth removed it from the request.",
          ),
          tokenType: tokenType("Type of the token; an access token by default."),
        },
        { description: "The client's token." },
      ),
      actorToken: object(
        {
          source: tokenSourceSchema("Location of the token."),
          tokenType: tokenType("Type of the token; an access token by default."),
          enforceMayAct: boolean(
            "Refuses requests unless the claim `may_act` of the client's token names claims of this one. Its type must be a JWT.",
          ),
        },
        {
          required: ["source"],
          checks: [
            {
              message: `"enforceMayAct" requires tokenType: ${JWT}`,
              field: "enforceMayAct",
              holds: (value) => value.enforceMayAct !== true || value.tokenType === JWT,
              cel: `!has(self.enforceMayAct) || !self.enforceMayAct || (has(self.tokenType) && self.tokenType == '${JWT}')`,
            },
          ],
          description:
            "Token of the party that acts for the client, such as an agent (RFC 8693). Requests without it get 401.",
        },
      ),
      requestedTokenType: tokenType("Type of the requested token; the server decides by default."),
      clientAuth: clientAuthSchema(),
      authorizationLocation: exchangeTargetSchema(),
    },
    {
      exactlyOneOf: SERVERS,
      checks: [...exchangeChecks("jwtBearer"), needsField("path", "host")],
      description:
        "Exchanges the client's token at an authorization server and sends the new token to the backend. Each token is exchanged once and cached until one of the two expires. If the server refuses the client's token, the client gets 401; if the server fails, 502.",
      examples: [
        {
          host: "https://login.example.com",
          path: "/token",
          clientAuth: { clientId: "gateway", clientSecret: "${EXCHANGE_SECRET}" },
          audiences: ["orders"],
        },
      ],
    },
  );
}

/** Returns the schema of the scopes of the second token of `crossAppAccess`. */
export function accessTokenScopes() {
  return list(text("A scope.", { maxLength: 1024 }), {
    maxItems: 64,
    description: "Scopes of the token for the backend; `scopes` by default.",
  });
}

/** Returns the schema of `crossAppAccess` in a file. */
export function crossAppAccessSchema() {
  const { audiences: _, additionalParams: __, path, scopes, ...fields } = exchangeFields(fileTime);
  const endpoint = (description: string) =>
    object(
      { ...endpointFields(), path, clientAuth: clientAuthSchema() },
      {
        required: ["clientAuth"],
        exactlyOneOf: SERVERS,
        checks: [needsField("path", "host")],
        description,
      },
    );
  return object(
    {
      identityProvider: endpoint(EXCHANGE_TEXTS.identityProvider),
      resourceAuthorizationServer: endpoint(EXCHANGE_TEXTS.resourceServer),
      audience: text(EXCHANGE_TEXTS.audience, { maxLength: 1024 }),
      scopes,
      accessTokenScopes: accessTokenScopes(),
      subjectToken: object(
        {
          source: tokenSourceSchema(
            "Location of the token; `Authorization: Bearer` by default, even if jwtAuth removed it from the request.",
          ),
          tokenType: tokenType("Type of the token; an ID token by default."),
        },
        { description: "The client's token." },
      ),
      ...fields,
    },
    {
      required: ["identityProvider", "resourceAuthorizationServer", "audience"],
      description:
        "Calls the backend with a token for the client's user, without another login (Cross App Access): the identity provider issues an identity assertion (ID-JAG) for the client's token, and the backend's authorization server a token for that. Both clients are of the gateway. Cached and refused like `oauthTokenExchange`.",
      examples: [
        {
          identityProvider: {
            host: "https://idp.example.com",
            path: "/token",
            clientAuth: { clientId: "gateway", clientSecret: "${IDP_SECRET}" },
          },
          resourceAuthorizationServer: {
            host: "https://auth.todo.example",
            path: "/token",
            clientAuth: { clientId: "gateway", clientSecret: "${TODO_SECRET}" },
          },
          audience: "https://auth.todo.example",
        },
      ],
    },
  );
}

type Value = Infer<ReturnType<typeof tokenExchangeSchema>>;
type CrossAppValue = Infer<ReturnType<typeof crossAppAccessSchema>>;

/** Converts a validated `oauthTokenExchange` to canonical form. */
export function readTokenExchange(
  value: Value,
  origin: Origin,
): TokenExchangeConfig<ServerPolicies> {
  const { subjectToken = {}, actorToken: actor, requestedTokenType } = value;
  return {
    ...sharedFields(value, origin),
    ...readEndpoint(value, origin),
    grant: value.grantType ?? "tokenExchange",
    subject: readTokenSource(subjectToken.source),
    subjectType: subjectToken.tokenType ?? ACCESS_TOKEN,
    actor: actor && {
      source: readTokenSource(actor.source),
      type: actor.tokenType ?? ACCESS_TOKEN,
      mustBePermitted: actor.enforceMayAct ?? false,
    },
    requestedType: requestedTokenType,
    target: readSentPlace(value.authorizationLocation) ?? BEARER,
  };
}

/** Converts a validated `crossAppAccess` to canonical form. */
export function readCrossAppAccess(
  value: CrossAppValue,
  origin: Origin,
): TokenExchangeConfig<ServerPolicies> {
  const at = (part: string) => childOf(origin, part);
  const next = value.resourceAuthorizationServer;
  return crossAppExchange(value, origin, {
    first: readEndpoint(value.identityProvider, at("identityProvider")),
    next: readEndpoint(next, at("resourceAuthorizationServer")),
    subject: readTokenSource(value.subjectToken?.source),
    subjectType: value.subjectToken?.tokenType ?? ID_TOKEN,
  });
}

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
    readonly subject: TokenSource;
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

function readEndpoint(
  {
    host = "",
    path = "/",
    clientAuth,
  }: Pick<CrossAppValue["identityProvider"], "host" | "path"> & {
    readonly clientAuth?: CrossAppValue["identityProvider"]["clientAuth"];
  },
  origin: Origin,
): TokenEndpointConfig<ServerPolicies> {
  const client = readClientAuth(clientAuth, childOf(origin, "clientAuth"));
  return { host, hostOrigin: childOf(origin, "host"), path, client };
}

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

/** Reads the location of a token; `Authorization: Bearer` by default. */
export function readTokenSource(
  source: Infer<ReturnType<typeof tokenSourceSchema>> | undefined,
): TokenSource {
  const { header, cookie } = source ?? {};
  if (cookie !== undefined) return { cookie: cookie.name };
  if (header === undefined) return BEARER;
  const { name, prefix = "" } = header;
  return { header: name.toLowerCase(), prefix: prefix === "" ? "" : `${prefix.trimEnd()} ` };
}

/** Services for resolving token endpoints; `connection` resolves the settings of a server. */
interface ExchangeContext extends FileLookup, SecretContext {
  readonly connection: (policies: ServerPolicies) => BackendConnection;
}

/** Resolves the token exchange; returns `undefined` if a mistake was reported. */
export function resolveTokenExchange(
  config: TokenExchangeConfig<ServerPolicies>,
  context: ExchangeContext,
): TokenExchangeNode<BackendConnection> | undefined {
  const { diagnostics } = context;
  const { host: _, hostOrigin: __, path: ___, policies: ____, parameters, next, ...rest } = config;
  const first = resolveEndpoint(config, context);
  const second = next && resolveEndpoint(next, context);
  const known = parameters.map(({ name, text: source, origin }) => {
    const options = { phase: "request", slot: "value" } as const;
    const code = resolveExpression({ text: source, origin }, options, diagnostics)?.code;
    if (code === undefined) return undefined;
    if (code.kind === "value" && typeof code.value === "string") return [name, code.value] as const;
    const params = {
      field: `"${name}"`,
      expected: "a constant string in quotes",
    };
    diagnostics.report("bad-format", origin, params);
    return undefined;
  });
  const constants = known.flatMap((each) => (each === undefined ? [] : [each]));
  if (first === undefined || constants.length < known.length) return undefined;
  if (next === undefined) return { ...rest, ...first, parameters: constants };
  return (
    second && { ...rest, ...first, parameters: constants, next: { ...second, scopes: next.scopes } }
  );
}

function resolveEndpoint(
  { host, hostOrigin, path, policies, client }: TokenEndpointConfig<ServerPolicies>,
  context: ExchangeContext,
): TokenEndpointNode<BackendConnection> | undefined {
  const server = forwardUrl(host, hostOrigin, context.diagnostics);
  if (server === undefined) return undefined;
  return {
    url: below(server, path),
    ...(policies && { connection: context.connection(policies) }),
    client: client && resolveClient(client, context),
  };
}

/** Appends a path to a server's URL. */
function below(server: Text, path: string): Text {
  if (typeof server === "string") return `${server.replace(/\/$/, "")}${path}`;
  return { ...server, parts: [...server.parts, path] };
}

/** Returns the schema of `jwtSign` in a file. */
export function signedTokenSchema() {
  return object(
    { signingKey: signingKeySchema(), ...signedTokenFields(fileTime) },
    {
      required: ["signingKey"],
      description:
        "Signs a short-lived JWT with a private key and sends it to the backend. Requests within a tenth of its lifetime, at most 30 s, share a token.",
      examples: [
        { signingKey: { file: "signing-key.pem" }, alg: "ES256", claims: { iss: "gateway" } },
      ],
    },
  );
}

/** Returns the schemas of the fields of `jwtSign` that both forms have. */
export function signedTokenFields(time: (description: string) => Schema<string>) {
  return {
    ...signerFields(),
    claims: map(json, {
      maxProperties: 64,
      propertyNames: {
        pattern: "^(?!(?:iat|exp|nbf)$)",
        form: "a claim other than iat, exp and nbf",
      },
      description: "Claims of every token. `iat` and `exp` are added.",
    }),
    ttl: time("Lifetime of a token."),
    location: sentPlaceSchema(EXCHANGE_TEXTS.location),
  };
}

/** Reads `jwtSign`; `key` is its private key. */
export function readSignedToken(
  {
    claims = {},
    ttl = DEFAULT_LIFETIME,
    location,
    ...signer
  }: Omit<Infer<ReturnType<typeof signedTokenSchema>>, "signingKey">,
  key: SignedTokenConfig["signer"]["key"],
): SignedTokenConfig {
  return {
    kind: "signedToken",
    signer: readSigner(signer, key),
    claims,
    lifetime: parseTimer(ttl) ?? 0,
    target: readSentPlace(location) ?? BEARER,
  };
}
