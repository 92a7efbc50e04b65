import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { serverAddressOf } from "../../model/server-address.ts";
import type { ServerPolicies } from "../../model/server-policies.ts";
import type {
  ClientCredentialsConfig,
  TokenEndpointConfig,
  TokenExchangeConfig,
} from "../../model/token-exchange.ts";
import { SERVICE_INSTEAD } from "../../schema/refused-features.ts";
import {
  boolean,
  choice,
  duration,
  type Infer,
  object,
  type Schema,
  text,
  unsupportedBut,
} from "../../schema/schema.ts";
import { clientAuthSchema, readClientAuth } from "./client-authentication.ts";
import {
  accessTokenScopes,
  clientCredentialsFields,
  EXCHANGE_TEXTS,
  exchangeChecks,
  exchangeFields,
  exchangeTargetSchema,
  tokenSourceSchema,
} from "./exchange-schema.ts";
import {
  BEARER,
  clientCredentialsParts,
  crossAppExchange,
  DEFAULT_LIFETIME,
  readTokenSource,
  sharedFields,
} from "./read-exchange.ts";
import { readServerConnection } from "./read-server-connection.ts";
import { readSentPlace } from "./sent-credentials.ts";
import { serverConnectionSchemas } from "./server-connection-schema.ts";
import { serverKeys, serverNameSchema } from "./server-name.ts";

const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const JWT = "urn:ietf:params:oauth:token-type:jwt";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";

const tokenType = (description: string) =>
  text(description, {
    maxLength: 1024,
    pattern: "^[A-Za-z][A-Za-z0-9+.\\-]*:[^\\s#]+$",
    form: "the URI of a token type",
    examples: [ACCESS_TOKEN],
  });

const endpointPolicies = object(serverConnectionSchemas(), {
  minProperties: 1,
  description: "Connection to the authorization server.",
});

function endpointFields() {
  return {
    host: text("Authorization server: `host:port` or a URL.", {
      readAtStart: true,
      examples: ["https://login.example.com"],
    }),
    backend: serverNameSchema,
    service: unsupportedBut("services of a mesh", SERVICE_INSTEAD),
    policies: endpointPolicies,
  };
}

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
          source: tokenSourceSchema(EXCHANGE_TEXTS.subject),
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
      exactlyOneOf: serverKeys,
      checks: exchangeChecks("jwtBearer"),
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

/** Returns the schema of `crossAppAccess` in a file. */
export function crossAppAccessSchema() {
  const { audiences: _, additionalParams: __, path, scopes, ...fields } = exchangeFields(fileTime);
  const endpoint = (description: string) =>
    object(
      { ...endpointFields(), path, clientAuth: clientAuthSchema() },
      {
        required: ["clientAuth"],
        exactlyOneOf: serverKeys,
        misplacedFieldHints: { tokenEndpointPath: "write it as `path`" },
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
          source: tokenSourceSchema(EXCHANGE_TEXTS.subject),
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

/** Returns the schema of `clientCredentials` in a file. */
export function clientCredentialsSchema() {
  return object(
    { ...endpointFields(), ...clientCredentialsFields(fileTime), clientAuth: clientAuthSchema() },
    {
      required: ["clientAuth"],
      exactlyOneOf: serverKeys,
      description: EXCHANGE_TEXTS.own,
      examples: [
        {
          host: "https://login.example.com",
          path: "/token",
          clientAuth: { clientId: "gateway", clientSecret: "${CLIENT_SECRET}" },
          scopes: ["orders"],
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
    subject: readTokenSource(subjectToken.source, childOf(origin, "subjectToken", "source")),
    subjectType: subjectToken.tokenType ?? ACCESS_TOKEN,
    actor: actor && {
      source: readTokenSource(actor.source, childOf(origin, "actorToken", "source")),
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
    subject: readTokenSource(value.subjectToken?.source, childOf(at("subjectToken"), "source")),
    subjectType: value.subjectToken?.tokenType ?? ID_TOKEN,
  });
}

/** Reads `clientCredentials` of a file. */
export function readClientCredentials(
  value: Infer<ReturnType<typeof clientCredentialsSchema>>,
  origin: Origin,
): ClientCredentialsConfig<ServerPolicies> {
  return { ...readEndpoint(value, origin), ...clientCredentialsParts(value) };
}

function readEndpoint(
  {
    path = "/",
    clientAuth,
    policies,
    ...server
  }: Pick<CrossAppValue["identityProvider"], "host" | "backend" | "path" | "policies"> & {
    readonly clientAuth?: CrossAppValue["identityProvider"]["clientAuth"];
  },
  origin: Origin,
): TokenEndpointConfig<ServerPolicies> {
  const client = readClientAuth(clientAuth, childOf(origin, "clientAuth"));
  return {
    host: serverAddressOf(server),
    hostOrigin: childOf(origin, server.backend === undefined ? "host" : "backend"),
    path,
    policies: policies && readServerConnection(policies, childOf(origin, "policies")),
    client,
  };
}
