import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { forwardUrl } from "../../model/host-url.ts";
import { type SecretContext, withoutLiteral } from "../../model/literal-secrets.ts";
import type { Text } from "../../model/texts.ts";
import type {
  ExchangeClientConfig,
  TokenExchangeConfig,
  TokenExchangeNode,
} from "../../model/token-exchange.ts";
import { parseTimer } from "../../schema/duration.ts";
import {
  anyText,
  choice,
  duration,
  either,
  expression,
  type Infer,
  integer,
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
import { resolveExpression } from "./expressions.ts";
import { headerNameSchema, TOKEN_PATTERN } from "./header-fields.ts";
import { readSentPlace, sentPlaceSchema } from "./sent-credentials.ts";

const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
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
        description: "Cache of exchanged tokens, which never outlive their lifetime.",
      },
    ),
    actorToken: unsupported("actor tokens"),
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

/** Returns the schema of `oauthTokenExchange` in a file. */
export function tokenExchangeSchema() {
  return object(
    {
      ...exchangeFields((description) =>
        duration(description, { default: DEFAULT_LIFETIME, minimumDuration: "1s" }),
      ),
      host: text("Authorization server: `host:port` or a URL.", {
        readAtStart: true,
        examples: ["https://login.example.com"],
      }),
      backend: unsupportedBut("authorization servers by the name of a backend", "write its host"),
      service: unsupported("mesh services"),
      policies: unsupportedBut("policies of an authorization server", "write https:// in its host"),
      grantType: choice(
        "`tokenExchange` (RFC 8693), or `jwtBearer` (RFC 7523) with the client's token as assertion.",
        ["tokenExchange", "jwtBearer"],
        { default: "tokenExchange" },
      ),
      subjectToken: object(
        {
          source: object(
            {
              header: object(
                {
                  name: headerNameSchema,
                  prefix: shortText(
                    "Prefix before the token, such as `Bearer `; empty by default.",
                  ),
                },
                { required: ["name"], description: "In a header." },
              ),
              cookie: object(
                {
                  name: shortText("The cookie's name.", {
                    pattern: TOKEN_PATTERN,
                    form: "a cookie name",
                  }),
                },
                { required: ["name"], description: "In a cookie." },
              ),
              expression: choice("The token verified by a policy.", ["jwt.rawToken.unredacted()"]),
              queryParameter: unsupportedBut("tokens in URLs", "take it from a header"),
            },
            {
              exactlyOneOf: ["header", "cookie", "expression", "queryParameter"],
              description:
                "Location of the token; `Authorization: Bearer` by default, even if jwtAuth removed it from the request.",
            },
          ),
          tokenType: tokenType("Type of the token; an access token by default."),
        },
        { description: "The client's token." },
      ),
      requestedTokenType: tokenType("Type of the requested token; the server decides by default."),
      clientAuth: object(
        {
          clientId: shortText("Client id of the gateway.", { readAtStart: true }),
          clientSecret: either(
            anyText({ minLength: 1, maxLength: 2048, secret: true }),
            object({ file: text("Path of a file with the secret.") }, { required: ["file"] }),
            { description: "Client secret of the gateway, as `${NAME}`, or `{file: PATH}`." },
          ),
          method: choice(
            "How the gateway authenticates.",
            ["clientSecretBasic", "clientSecretPost"],
            {
              default: "clientSecretBasic",
              unsupportedValues: { privateKeyJwt: "client assertions" },
            },
          ),
          privateKeyJwt: unsupported("client assertions"),
        },
        {
          required: ["clientId", "clientSecret"],
          description: "Client credentials of the gateway at the authorization server.",
        },
      ),
      authorizationLocation: exchangeTargetSchema(),
    },
    {
      exactlyOneOf: ["host", "backend", "service"],
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

type Value = Infer<ReturnType<typeof tokenExchangeSchema>>;

/** Converts a validated `oauthTokenExchange` to canonical form. */
export function readTokenExchange(value: Value, origin: Origin): TokenExchangeConfig {
  const { clientAuth, subjectToken = {}, requestedTokenType } = value;
  const secret = clientAuth?.clientSecret;
  return {
    ...sharedFields(value, origin),
    host: value.host ?? "",
    hostOrigin: childOf(origin, "host"),
    client:
      clientAuth === undefined || secret === undefined
        ? undefined
        : {
            clientId: clientAuth.clientId,
            clientSecret:
              typeof secret === "string" || "kind" in secret
                ? secret
                : { kind: "path", file: secret.file },
            method: clientAuth.method ?? "clientSecretBasic",
            secretOrigin: childOf(origin, "clientAuth", "clientSecret"),
          },
    grant: value.grantType ?? "tokenExchange",
    subject: subjectOf(subjectToken),
    subjectType: subjectToken.tokenType ?? ACCESS_TOKEN,
    requestedType: requestedTokenType,
    target: readSentPlace(value.authorizationLocation) ?? BEARER,
  };
}

/** Reads the fields that both forms have, with their defaults. */
export function sharedFields(
  value: Infer<Schema<SharedValue>>,
  origin: Origin,
): Pick<
  TokenExchangeConfig,
  | "kind"
  | "path"
  | "audiences"
  | "scopes"
  | "resources"
  | "parameters"
  | "maxTokens"
  | "defaultLifetime"
> {
  const { cache = {}, additionalParams = {} } = value;
  return {
    kind: "tokenExchange",
    path: value.path ?? "/",
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
  readonly path?: string;
  readonly audiences?: readonly string[];
  readonly scopes?: readonly string[];
  readonly resources?: readonly string[];
  readonly additionalParams?: Readonly<Record<string, string>>;
  readonly cache?: { readonly maxEntries?: number; readonly defaultTtl?: string };
}

/** Default place of tokens. */
export const BEARER = { header: "authorization", prefix: "Bearer " } as const;

function subjectOf({
  source: { header, cookie } = {},
}: NonNullable<Value["subjectToken"]>): TokenExchangeConfig["subject"] {
  if (cookie !== undefined) return { cookie: cookie.name };
  if (header === undefined) return BEARER;
  const { name, prefix = "" } = header;
  return { header: name.toLowerCase(), prefix: prefix === "" ? "" : `${prefix.trimEnd()} ` };
}

/** Resolves the token exchange; returns `undefined` if a mistake was reported. */
export function resolveTokenExchange(
  { host, hostOrigin, path, client, parameters, ...rest }: TokenExchangeConfig,
  context: SecretContext,
): TokenExchangeNode | undefined {
  const { diagnostics } = context;
  const server = forwardUrl(host, hostOrigin, diagnostics);
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
  if (server === undefined || constants.length < known.length) return undefined;
  return {
    ...rest,
    url: below(server, path),
    client: client && resolveClient(client, context),
    parameters: constants,
  };
}

function resolveClient(
  { clientId, clientSecret: secret, method, secretOrigin }: ExchangeClientConfig,
  context: SecretContext,
): TokenExchangeNode["client"] {
  const clientSecret =
    typeof secret === "string" || secret.kind === "env"
      ? withoutLiteral(secret, secretOrigin, { field: '"clientSecret"' }, context)
      : secret;
  return { clientId, clientSecret, method };
}

/** Appends a path to a server's URL. */
function below(server: Text, path: string): Text {
  if (typeof server === "string") return `${server.replace(/\/$/, "")}${path}`;
  return { ...server, parts: [...server.parts, path] };
}
