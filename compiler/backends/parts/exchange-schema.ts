import {
  expression,
  integer,
  list,
  map,
  object,
  type Schema,
  shortText,
  text,
  type ValueCheck,
} from "../../schema/schema.ts";
import { headerNameSchema, TOKEN_PATTERN } from "./header-fields.ts";
import { sentPlaceSchema } from "./sent-credentials.ts";

const MAX_TOKENS = 8192;

/** Parameters of token requests that other fields set. */
const OWN_PARAMETERS = [
  ...["grant_type", "subject_token", "subject_token_type", "actor_token", "actor_token_type"],
  ...["assertion", "audience", "resource", "scope", "requested_token_type"],
  ...["client_id", "client_secret", "client_assertion", "client_assertion_type"],
];

/** Descriptions of fields that both forms have. */
export const EXCHANGE_TEXTS = {
  cache: "Cache of exchanged tokens, which never outlive their lifetime.",
  prefix: "Prefix before the token, such as `Bearer `; empty by default.",
  identityProvider: "Token endpoint of the identity provider of the users.",
  resourceServer: "Token endpoint of the backend's authorization server.",
  audience: "Identifier of the backend's authorization server.",
  location: "Location of the token; `Authorization: Bearer` by default.",
  subject:
    "Location of the token; `Authorization: Bearer` by default, even if a policy removed it from the request.",
  certificateHeader:
    "Header of assertions that shows the certificate: the chain (`x5c`), or the digest of its first certificate (`x5t#S256`).",
  own: "Sends the backend a token that an authorization server issues to the gateway itself (client credentials, RFC 6749 4.4). It is renewed before it expires. Clients get 502 if there is none.",
} as const;
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
    additionalParams: map(expression("CEL expression whose result is a string."), {
      maxProperties: 64,
      propertyNames: {
        pattern: `^(?!(?:${OWN_PARAMETERS.join("|")})$)`,
        form: "a parameter that no other field sets",
      },
      description:
        "Additional parameters of the token request: expressions that read the client's request. Requests for which one is not a string get 401.",
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

/** Returns the schema of the location of a token in the client's requests. */
export function tokenSourceSchema(description: string) {
  return object(
    {
      header: object(
        { name: headerNameSchema, prefix: shortText(EXCHANGE_TEXTS.prefix) },
        { required: ["name"], description: "In a header." },
      ),
      cookie: object(
        {
          name: shortText("The cookie's name.", { pattern: TOKEN_PATTERN, form: "a cookie name" }),
        },
        { required: ["name"], description: "In a cookie." },
      ),
      queryParameter: object(
        { name: shortText("The parameter's name.", { minLength: 1 }) },
        { required: ["name"], description: "In a query parameter." },
      ),
      expression: expression(
        "CEL expression whose result is the token, which is not removed from the request; `jwt.rawToken.unredacted()` for the token verified by a policy.",
      ),
    },
    { exactlyOneOf: ["header", "cookie", "queryParameter", "expression"], description },
  );
}

/** Returns the schema of the scopes of the second token of `crossAppAccess`. */
export function accessTokenScopes() {
  return list(text("A scope.", { maxLength: 1024 }), {
    maxItems: 64,
    description: "Scopes of the token for the backend; `scopes` by default.",
  });
}

/** Returns the schemas of the fields of `clientCredentials` that both forms have. */
export function clientCredentialsFields(time: (description: string) => Schema<string>) {
  const { path, audiences, scopes, resources } = exchangeFields(time);
  return {
    ...{ path, audiences, scopes, resources },
    defaultTtl: time("Lifetime of a token if the server returns none."),
    location: sentPlaceSchema(EXCHANGE_TEXTS.location),
  };
}
