import { DEFAULT_USER_CLAIM } from "../../model/user-connections.ts";
import { hintFor } from "../../schema/hint-for.ts";
import { anyText, either, type ObjectValue, object, shortText, text } from "../../schema/schema.ts";
import { awsAuthSchema, azureAuthSchema, gcpAuthSchema } from "./cloud-schema.ts";
import {
  clientCredentialsSchema,
  crossAppAccessSchema,
  tokenExchangeSchema,
} from "./exchange-file-form.ts";
import { credentialSchema, moreCredentialsSchema, sentPlaceSchema } from "./sent-credentials.ts";
import { serverConnectionSchemas } from "./server-connection-schema.ts";
import { signedTokenSchema } from "./signed-token.ts";

/** Connection policies, for any protocol, as validated by their schemas. */
export type ConnectionValue = ObjectValue<ReturnType<typeof connectionSchemas>, never>;

/** Returns the schema of the key of a backend: the key, a file that contains it, or either with its place. */
function keySchema() {
  return either(
    anyText({ minLength: 1, maxLength: 2048, secret: true }),
    object(
      {
        file: text("Path of a file with the key, or with a complete Authorization value."),
        value: credentialSchema("The key: `${NAME}`, or `{file: PATH}`."),
        location: sentPlaceSchema("Place of the key; `Authorization: Bearer` by default."),
      },
      { exactlyOneOf: ["file", "value"] },
    ),
    {
      description:
        "Key to send as `Authorization: Bearer`, or in `location`: `${NAME}`, `{file: PATH}`, which is read at start and again whenever it changes, or `{value, location}`.",
    },
  );
}

const MAIN_CREDENTIALS = [
  ...(["key", "passthrough", "gcp", "aws", "azure", "jwtSign"] as const),
  ...(["oauthTokenExchange", "crossAppAccess", "clientCredentials", "oauth"] as const),
];

/** Returns the schema of a connection of users. */
export function userConnectionSchema() {
  return object(
    {
      connection: shortText("Name of the connection, one of `servers` of the page."),
      page: shortText("URL of the page where users connect: `url` of `userConnections`."),
      userClaim: shortText("Claim that names the user; that of the page.", {
        default: DEFAULT_USER_CLAIM,
      }),
    },
    {
      required: ["connection", "page"],
      description: USER_CONNECTION,
    },
  );
}

const USER_CONNECTION =
  "Sends the token that the caller's user has granted (`userConnections`). Users without a connection are asked to connect.";

/** Returns the schemas of the connection policies, for any protocol. */
export function connectionSchemas() {
  return {
    ...serverConnectionSchemas(),
    backendAuth: object(
      {
        key: keySchema(),
        passthrough: object(
          {
            location: sentPlaceSchema(
              "Place to which the token that a policy verified is moved; it stays where it was by default.",
            ),
          },
          { description: "Forwards the client's own token to the backend." },
        ),
        gcp: gcpAuthSchema(),
        aws: awsAuthSchema(),
        azure: azureAuthSchema(),
        credentials: moreCredentialsSchema(),
        jwtSign: signedTokenSchema(),
        oauthTokenExchange: tokenExchangeSchema(),
        crossAppAccess: crossAppAccessSchema(),
        clientCredentials: clientCredentialsSchema(),
        oauth: userConnectionSchema(),
      },
      {
        atMostOneOf: MAIN_CREDENTIALS,
        atLeastOneOf: [...MAIN_CREDENTIALS, "credentials"],
        misplacedFieldHints: hintFor('write key: "${NAME}"; servers get Authorization: Bearer', [
          ...["bearer", "token", "apiKey", "header", "headers", "secret"],
        ]),
        description: "Credential that the gateway sends to the backend.",
      },
    ),
  };
}
