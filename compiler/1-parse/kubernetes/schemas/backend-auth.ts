import {
  AZURE_SCOPE,
  awsFields,
  awsRoleChecks,
  awsService,
} from "../../../backends/parts/cloud-schema.ts";
import { sentPlaceSchema } from "../../../backends/parts/sent-credentials.ts";
import {
  exchangeChecks,
  exchangeFields,
  exchangeTargetSchema,
} from "../../../backends/parts/token-exchange.ts";
import { localObject, secretEntry, span, tinyText } from "../../../manifests/field-types.ts";
import {
  anyText,
  choice,
  type Infer,
  list,
  object,
  shortText,
  text,
  unsupported,
  unsupportedBut,
} from "../../../schema/schema.ts";

/** `OAuthTokenExchange`, as in agentgateway's resources. */
export const oauthTokenExchange = object(
  {
    ...exchangeFields((description) => span(`${description} 5m by default.`)),
    path: unsupportedBut("paths with a backendRef", "add it to the url"),
    url: text("The token endpoint.", { format: "url", maxLength: 2048 }),
    backendRef: unsupportedBut("token endpoints by reference", "set its url"),
    grantType: choice("TokenExchange: RFC 8693; JwtBearer: RFC 7523.", [
      ...(["TokenExchange", "JwtBearer"] as const),
    ]),
    subjectToken: object(
      {
        source: unsupportedBut("tokens from other places", "it is read from Authorization"),
        tokenType: tinyText("AccessToken, Jwt, IdToken, or a URI; an access token by default."),
      },
      { description: "The client's token." },
    ),
    requestedTokenType: choice("Type of the requested token.", ["AccessToken", "Jwt", "IdToken"]),
    clientAuth: object(
      {
        clientId: shortText("The gateway's name there."),
        secretRef: secretEntry("A Secret with the client secret.", "clientSecret"),
        method: choice(
          "How the client authenticates with the secret.",
          ["ClientSecretBasic", "ClientSecretPost"],
          {
            unsupportedValues: { PrivateKeyJwt: "client assertions" },
          },
        ),
        privateKeyJwt: unsupported("client assertions"),
      },
      {
        required: ["clientId", "secretRef"],
        description: "OAuth client that requests the tokens.",
      },
    ),
    location: exchangeTargetSchema(),
  },
  {
    exactlyOneOf: ["url", "backendRef"],
    checks: [...exchangeChecks("JwtBearer")],
    description:
      "Exchanges the client's token for another one at an authorization server (RFC 8693).",
  },
);

const azure = object(
  {
    secretRef: localObject("A Secret with tenantId, clientId and clientSecret: an application."),
    managedIdentity: object(
      {
        clientId: shortText("The id of its client."),
        objectId: shortText("The id of its object."),
        resourceId: text("The id of its resource.", { maxLength: 1024 }),
      },
      {
        atLeastOneOf: ["clientId", "objectId", "resourceId"],
        description:
          "A managed identity of the machine, by one of its ids; the client id has precedence, then the object id.",
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
        secretRef: localObject("A Secret with accessKey and secretKey."),
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
