import { keepAliveSchema } from "../../schema/keep-alive.ts";
import {
  anyText,
  boolean,
  choice,
  duration,
  either,
  list,
  type ObjectValue,
  object,
  shortText,
  text,
  unsupported,
} from "../../schema/schema.ts";
import { tokenExchangeSchema } from "./token-exchange.ts";

/** Returns the schema of a path of a PEM file. */
function pemFile(what: string) {
  return text(`Path of ${what} (PEM), read at start and again whenever it changes.`);
}

const SERVER_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

const awsName = { pattern: "^[a-z0-9-]+$", form: "lower-case letters, digits and dashes" };

function gcpSchema() {
  return object(
    {
      type: choice(
        "Type of token: access tokens for Google APIs, identity tokens for services such as Cloud Run.",
        ["AccessToken", "IdToken", "accessToken", "idToken"],
        { default: "AccessToken" },
      ),
      audience: shortText("Audience of an identity token; the backend's host by default."),
    },
    {
      description:
        "Sends a token of the gateway's own Google identity: from the file in GOOGLE_APPLICATION_CREDENTIALS (a service account, a user, a workload identity), or else from the metadata server.",
      checks: [
        {
          message: '"audience" requires type: IdToken',
          field: "audience",
          holds: ({ type, audience }) =>
            audience === undefined || type === "IdToken" || type === "idToken",
          cel: "!has(self.audience) || (has(self.type) && self.type in ['IdToken', 'idToken'])",
        },
      ],
    },
  );
}

function awsSchema() {
  return object(
    {
      accessKeyId: text("Access key id.", { readAtStart: true }),
      secretAccessKey: text("Secret access key.", { secret: true }),
      sessionToken: text("Session token, for temporary credentials.", { secret: true }),
      region: shortText("AWS region; by default that of the backend's host.", awsName),
      service: shortText(
        "Service name for signing; by default that of the backend's host.",
        awsName,
      ),
      assumeRole: unsupported("assuming AWS roles"),
    },
    {
      examples: [{ region: "eu-central-1" }],
      description:
        "Signs requests (AWS Signature Version 4), by default with the gateway's own credentials: from a profile (`AWS_PROFILE` with keys, a role, an IAM Identity Center login or a credential process), the environment, a web identity, the container's agent, or the instance.",
      checks: [
        {
          message: '"accessKeyId" and "secretAccessKey" require each other',
          holds: (value) =>
            (value.accessKeyId === undefined) === (value.secretAccessKey === undefined),
          cel: "has(self.accessKeyId) == has(self.secretAccessKey)",
        },
        {
          message: '"sessionToken" requires "accessKeyId"',
          field: "sessionToken",
          holds: ({ accessKeyId, sessionToken }) =>
            sessionToken === undefined || accessKeyId !== undefined,
          cel: "!has(self.sessionToken) || has(self.accessKeyId)",
        },
      ],
    },
  );
}

function azureSchema() {
  const identity = object(
    {
      clientId: shortText("Client id of the identity."),
      objectId: shortText("Object id of the identity."),
      resourceId: text("Resource id of the identity."),
    },
    {
      exactlyOneOf: ["clientId", "objectId", "resourceId"],
      description: "A user-assigned identity; the system-assigned one by default.",
    },
  );
  const explicitConfig = object(
    {
      clientSecret: object(
        {
          tenant_id: shortText("Tenant id.", { readAtStart: true }),
          client_id: shortText("Client id of the application.", { readAtStart: true }),
          client_secret: text("Client secret of the application.", { secret: true }),
        },
        {
          required: ["tenant_id", "client_id", "client_secret"],
          description: "A Microsoft Entra application.",
        },
      ),
      managedIdentity: object(
        { userAssignedIdentity: identity },
        { description: "Managed identity of the machine." },
      ),
      workloadIdentity: object(
        {},
        {
          description: "Workload identity with the federated token in AZURE_FEDERATED_TOKEN_FILE.",
        },
      ),
    },
    { exactlyOneOf: ["clientSecret", "managedIdentity", "workloadIdentity"] },
  );
  return object(
    {
      explicitConfig: { ...explicitConfig, description: "Identity whose token is sent." },
      implicit: object(
        {},
        {
          description:
            "The gateway's own Azure identity: an application in the environment, a workload identity, or the machine's managed identity.",
        },
      ),
      developerImplicit: unsupported("logins of the Azure CLI"),
      scope: text("Scope of the token.", { default: AZURE_SCOPE }),
    },
    {
      exactlyOneOf: ["explicitConfig", "implicit", "developerImplicit"],
      description: "Sends a Microsoft Entra token.",
    },
  );
}

/** Default scope of tokens for Azure services. */
export const AZURE_SCOPE = "https://cognitiveservices.azure.com/.default";

/** Connection policies, for any protocol, as validated by their schemas. */
export type ConnectionValue = ObjectValue<ReturnType<typeof connectionSchemas>, never>;

/** Returns the schema of a key, or of a file that contains it. */
export function keySchema(description: string) {
  return either(
    anyText({ minLength: 1, maxLength: 2048, secret: true }),
    object(
      { file: text("Path of a file with the key, or with a complete Authorization value.") },
      { required: ["file"] },
    ),
    { description },
  );
}

/** Returns the schemas of the connection policies, for any protocol. */
export function connectionSchemas() {
  return {
    backendTLS: object(
      {
        cert: pemFile("the gateway's client certificate"),
        key: pemFile("the private key of `cert`"),
        root: pemFile(
          "the CA certificates that verify the backend's certificate; the system's by default",
        ),
        hostname: text("Server name (SNI); the backend's host by default.", {
          maxLength: 253,
          pattern: SERVER_NAME,
          form: "a lower-case host name",
        }),
        insecure: boolean("Disables certificate verification."),
        insecureHost: boolean("Accepts a trusted certificate with any name."),
        alpn: list(
          text("A protocol: `h2`, `http/1.1`, or, for TCP routes, any other.", { maxLength: 64 }),
          {
            minItems: 1,
            maxItems: 16,
            uniqueItems: true,
            description:
              "Protocols to offer (ALPN), in order of preference. Requests support `h2` and `http/1.1`; by default the one of `http.version` is offered.",
          },
        ),
        subjectAltNames: list(shortText("A host name, an IP address, or a URI (`spiffe://...`)."), {
          minItems: 1,
          maxItems: 16,
          description:
            "Identifiers of which the certificate must contain one; the server name by default.",
        }),
        keyExchangeGroups: unsupported("a choice of key exchange groups"),
        spiffe: unsupported("SPIFFE certificates"),
      },
      {
        description:
          "Connects to the backend over TLS, verified with the system's CA certificates by default.",
        examples: [{ hostname: "shop.example.com" }],
        checks: [
          {
            message: '"cert" and "key" require each other',
            holds: (value) => (value.cert === undefined) === (value.key === undefined),
            cel: "has(self.cert) == has(self.key)",
          },
          {
            message: '"root" has no effect with "insecure"',
            field: "root",
            holds: ({ root, insecure }) => root === undefined || insecure !== true,
            cel: "!has(self.root) || !has(self.insecure) || !self.insecure",
          },
          {
            message: '"insecure", "insecureHost" and "subjectAltNames" exclude each other',
            holds: (value) =>
              [
                value.insecure === true,
                value.insecureHost === true,
                value.subjectAltNames !== undefined,
              ].filter((each) => each).length <= 1,
            cel: "[has(self.insecure) && self.insecure, has(self.insecureHost) && self.insecureHost, has(self.subjectAltNames)].filter(x, x).size() <= 1",
          },
        ],
      },
    ),
    backendAuth: object(
      {
        key: keySchema(
          "Key to send as `Authorization: Bearer`: `${NAME}`, or `{file: PATH}`, which is read at start and again whenever it changes.",
        ),
        passthrough: object({}, { description: "Forwards the client's own token to the backend." }),
        gcp: gcpSchema(),
        aws: awsSchema(),
        azure: azureSchema(),
        credentials: unsupported("several credentials"),
        jwtSign: unsupported("signed tokens"),
        oauthTokenExchange: tokenExchangeSchema(),
        crossAppAccess: unsupported("cross-app access"),
      },
      {
        exactlyOneOf: [
          "key",
          "passthrough",
          "gcp",
          "aws",
          "azure",
          "credentials",
          "jwtSign",
          "oauthTokenExchange",
          "crossAppAccess",
        ],
        description: "Credential that the gateway sends to the backend.",
      },
    ),
    http: object(
      {
        version: choice("HTTP version for the backend.", ["HTTP1", "HTTP2"], { default: "HTTP1" }),
        requestTimeout: duration("Timeout until the response headers arrive; 504 after that.", {
          minimumDuration: "1ms",
        }),
      },
      { minProperties: 1, description: "HTTP settings for the backend." },
    ),
    tcp: object(
      {
        keepalives: keepAliveSchema(),
        keepalive: { ...keepAliveSchema(), aliasOf: "keepalives" },
        connectTimeout: duration("Timeout for opening a connection, including the TLS handshake.", {
          minimumDuration: "100ms",
          default: "10s",
        }),
      },
      {
        minProperties: 1,
        atMostOneOf: ["keepalives", "keepalive"],
        description: "TCP settings for the backend.",
      },
    ),
  };
}
