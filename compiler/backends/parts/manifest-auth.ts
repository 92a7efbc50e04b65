import {
  backendReference,
  localObject,
  secretEntry,
  span,
  tinyText,
} from "../../manifests/field-types.ts";
import { anyText, choice, type Infer, list, object, shortText, text } from "../../schema/schema.ts";
import { certificateHeaderSchema, signerFields } from "./client-authentication.ts";
import { AZURE_SCOPE, awsFields, awsRoleChecks, awsService } from "./cloud-schema.ts";
import { userConnectionSchema } from "./connection-schema.ts";
import {
  accessTokenScopes,
  clientCredentialsFields,
  EXCHANGE_TEXTS,
  exchangeChecks,
  exchangeFields,
  exchangeTargetSchema,
  tokenSourceSchema,
} from "./exchange-schema.ts";
import { sentPlaceSchema } from "./sent-credentials.ts";
import { signedTokenFields } from "./signed-token.ts";

const time = (description: string) => span(`${description} 5m by default.`);

const TOKEN_TYPES = "AccessToken, Jwt, IdToken, or a URI";

const cache = object(
  { inMemory: exchangeFields(time).cache },
  { description: EXCHANGE_TEXTS.cache },
);

const endpointFields = {
  path: exchangeFields(time).path,
  url: text("The token endpoint.", { format: "url", maxLength: 2048 }),
  backendRef: backendReference(
    "Server of the token endpoint: a Service or a static GatewayBackend.",
  ),
};

const OF_ENDPOINT = {
  exactlyOneOf: ["url", "backendRef"],
  checks: [
    {
      message: '"path" requires "backendRef": a "url" has its own path',
      field: "path",
      needs: "backendRef",
      holds: (value: Readonly<Record<string, unknown>>) =>
        value.path === undefined || value.backendRef !== undefined,
      cel: "!has(self.path) || has(self.backendRef)",
    },
  ],
} as const;

const clientAuth = object(
  {
    clientId: shortText("The gateway's name there."),
    secretRef: secretEntry("A Secret with the client secret.", "clientSecret"),
    method: choice(
      "How the client authenticates. ClientSecretPost without a Secret only sends the client id.",
      ["ClientSecretBasic", "ClientSecretPost", "PrivateKeyJwt"],
    ),
    privateKeyJwt: object(
      {
        signingKeyRef: secretEntry("A Secret with a private key (PEM).", "signingKey"),
        ...signerFields(),
        assertionAudience: text("Audience of the assertion, usually the token endpoint.", {
          maxLength: 1024,
        }),
        certificateRef: secretEntry(
          "A Secret with the chain of certificates (PEM) for the key, its own first.",
          "certificate",
        ),
        certificateHeader: certificateHeaderSchema(),
      },
      {
        required: ["signingKeyRef", "assertionAudience"],
        checks: [
          {
            message: '"certificateRef" and "certificateHeader" require each other',
            holds: ({ certificateRef, certificateHeader }) =>
              (certificateRef === undefined) === (certificateHeader === undefined),
            cel: "has(self.certificateRef) == has(self.certificateHeader)",
          },
        ],
        description: "Assertions that the gateway signs (RFC 7523).",
      },
    ),
  },
  {
    required: ["clientId"],
    checks: [
      {
        message: '"privateKeyJwt" and method: PrivateKeyJwt require each other',
        holds: ({ method, privateKeyJwt }) =>
          (privateKeyJwt !== undefined) === (method === "PrivateKeyJwt"),
        cel: "has(self.privateKeyJwt) == (has(self.method) && self.method == 'PrivateKeyJwt')",
      },
      {
        message: '"secretRef" cannot be combined with "privateKeyJwt"',
        field: "secretRef",
        holds: ({ secretRef, privateKeyJwt }) =>
          secretRef === undefined || privateKeyJwt === undefined,
        cel: "!has(self.secretRef) || !has(self.privateKeyJwt)",
      },
      {
        message: '"secretRef" is required, except with method: ClientSecretPost or PrivateKeyJwt',
        holds: ({ secretRef, method }) =>
          secretRef !== undefined || method === "ClientSecretPost" || method === "PrivateKeyJwt",
        cel: "has(self.secretRef) || (has(self.method) && self.method != 'ClientSecretBasic')",
      },
    ],
    description: "OAuth client that requests the tokens.",
    examples: [{ clientId: "gateway", secretRef: { name: "client" } }],
  },
);

/** Type of a valid `clientAuth`. */
export type ClientAuthValue = Infer<typeof clientAuth>;

/** `OAuthTokenExchange`, as in agentgateway's resources. */
export const oauthTokenExchange = object(
  {
    ...exchangeFields(time),
    ...endpointFields,
    cache,
    grantType: choice("TokenExchange: RFC 8693; JwtBearer: RFC 7523.", [
      ...(["TokenExchange", "JwtBearer"] as const),
    ]),
    subjectToken: object(
      {
        source: tokenSourceSchema(EXCHANGE_TEXTS.subject),
        tokenType: tinyText(`${TOKEN_TYPES}; an access token by default.`),
      },
      { description: "The client's token." },
    ),
    actorToken: object(
      {
        source: tokenSourceSchema("Location of the token."),
        tokenType: tinyText(`${TOKEN_TYPES}; an access token by default.`),
        mayAct: choice(
          "Required: refuses requests unless the claim `may_act` of the client's token names claims of this one, which must be a Jwt.",
          ["Required"],
        ),
      },
      {
        required: ["source"],
        checks: [
          {
            message: '"mayAct" requires tokenType: Jwt',
            field: "mayAct",
            holds: (value) => value.mayAct === undefined || value.tokenType === "Jwt",
            cel: "!has(self.mayAct) || (has(self.tokenType) && self.tokenType == 'Jwt')",
          },
        ],
        description:
          "Token of the party that acts for the client, such as an agent. Requests without it get 401.",
      },
    ),
    requestedTokenType: choice("Type of the requested token.", ["AccessToken", "Jwt", "IdToken"]),
    clientAuth,
    location: exchangeTargetSchema(),
  },
  {
    ...OF_ENDPOINT,
    checks: [...OF_ENDPOINT.checks, ...exchangeChecks("JwtBearer")],
    description:
      "Exchanges the client's token for another one at an authorization server (RFC 8693).",
  },
);

const crossAppEndpoint = (description: string) =>
  object(
    { ...endpointFields, clientAuth },
    { ...OF_ENDPOINT, required: ["clientAuth"], description },
  );

const { scopes, resources } = exchangeFields(time);

/** `CrossAppAccessAuth`, as in agentgateway's resources. */
export const crossAppAccess = object(
  {
    identityProvider: crossAppEndpoint(EXCHANGE_TEXTS.identityProvider),
    resourceAuthorizationServer: crossAppEndpoint(EXCHANGE_TEXTS.resourceServer),
    audience: text(EXCHANGE_TEXTS.audience, { maxLength: 1024 }),
    scopes,
    resources,
    accessTokenScopes: accessTokenScopes(),
    subjectToken: object(
      {
        source: tokenSourceSchema(EXCHANGE_TEXTS.subject),
        tokenType: tinyText(`${TOKEN_TYPES}; an ID token by default.`),
      },
      { description: "The client's token." },
    ),
    cache,
  },
  {
    required: ["identityProvider", "resourceAuthorizationServer", "audience"],
    description:
      "Calls the backend with a token for the client's user, without another login (Cross App Access).",
  },
);

const clientCredentials = object(
  { ...clientCredentialsFields(time), ...endpointFields, clientAuth },
  { ...OF_ENDPOINT, required: ["clientAuth"], description: EXCHANGE_TEXTS.own },
);

/** Type of a valid `clientCredentials` of `BackendAuth`. */
export type ClientCredentialsValue = Infer<typeof clientCredentials>;

const jwtSign = object(
  {
    signingKeyRef: secretEntry("A Secret with a private key (PEM, RSA or EC).", "signingKey"),
    ...signedTokenFields(time),
  },
  {
    required: ["signingKeyRef"],
    description: "Signs a short-lived JWT with a private key and sends it to the backend.",
  },
);

const azure = object(
  {
    secretRef: localObject(
      "Secret",
      "A Secret with tenantId, clientId and clientSecret: an application.",
    ),
    managedIdentity: object(
      {
        clientId: shortText("The id of its client."),
        objectId: shortText("The id of its object."),
        resourceId: text("The id of its resource.", { maxLength: 1024 }),
      },
      {
        description:
          "A managed identity of the machine: the system's, or one by its id; the client id has precedence, then the object id.",
      },
    ),
    workloadIdentity: object(
      {},
      {
        description:
          "The workload identity of the gateway's pod, with the federated token in AZURE_FEDERATED_TOKEN_FILE.",
      },
    ),
    scope: text("Scope of the token.", { maxLength: 1024, default: AZURE_SCOPE }),
  },
  {
    atMostOneOf: ["secretRef", "managedIdentity", "workloadIdentity"],
    description:
      "Authenticates with a token of Microsoft Entra; by default that of the environment in which the gateway runs.",
  },
);

/** Type of a valid `azure` of `BackendAuth`. */
export type AzureAuthValue = Infer<typeof azure>;

const MAIN_CREDENTIALS = [
  ...(["key", "secretRef", "passthrough", "aws", "azure", "gcp", "oauthTokenExchange"] as const),
  ...(["crossAppAccess", "clientCredentials", "jwtSign", "oauth"] as const),
];

/** `BackendAuth`. */
export const backendAuth = object(
  {
    key: anyText({
      maxLength: 2048,
      isHidden: true,
      description: "The value of the Authorization header.",
    }),
    secretRef: secretEntry("A Secret with the credential.", "Authorization"),
    passthrough: object({}, { description: "Forwards the client's own token." }),
    location: sentPlaceSchema(
      "Place of the credential of `key`, `secretRef` or `passthrough`; `Authorization: Bearer` by default.",
    ),
    credentials: list(
      object(
        {
          location: sentPlaceSchema("Place of the credential in requests."),
          secretRef: secretEntry("A Secret with the credential.", "Authorization"),
        },
        { required: ["location", "secretRef"] },
      ),
      {
        minItems: 1,
        maxItems: 8,
        description: "Credentials in other places, each sent in addition to the main one.",
      },
    ),
    aws: object(
      {
        secretRef: localObject("Secret", "A Secret with accessKey and secretKey."),
        ...awsFields(),
        serviceName: awsService,
      },
      {
        description: "Signs requests (AWS Signature Version 4).",
        checks: awsRoleChecks("secretRef"),
      },
    ),
    gcp: object(
      {
        type: choice("Type of the token.", ["AccessToken", "IdToken"]),
        audience: shortText("The token's audience."),
        secretRef: secretEntry(
          "A Secret with Google credentials as JSON, instead of those of the gateway.",
          "credentials.json",
        ),
      },
      {
        description: "Authenticates with a token of the Google Cloud identity of the gateway.",
        checks: [
          {
            message: '"audience" is only valid with type: IdToken',
            field: "audience",
            holds: ({ type, audience }) => audience === undefined || type === "IdToken",
            cel: "!has(self.audience) || (has(self.type) && self.type == 'IdToken')",
          },
        ],
      },
    ),
    azure,
    oauthTokenExchange,
    crossAppAccess,
    clientCredentials,
    jwtSign,
    oauth: userConnectionSchema(),
  },
  {
    atMostOneOf: MAIN_CREDENTIALS,
    atLeastOneOf: [...MAIN_CREDENTIALS, "credentials"],
    description: "How the gateway authenticates to the backend.",
    checks: [
      {
        message: '"location" requires "key", "secretRef" or "passthrough"',
        field: "location",
        holds: ({ location, key, secretRef, passthrough }) =>
          location === undefined || (key ?? secretRef ?? passthrough) !== undefined,
        cel: "!has(self.location) || has(self.key) || has(self.secretRef) || has(self.passthrough)",
      },
    ],
  },
);
