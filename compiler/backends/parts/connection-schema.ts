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

/** A path of a PEM file that the gateway reads. */
function pemFile(what: string) {
  return text(`Path of ${what} (PEM), read when the gateway starts and when it changes.`);
}

const SERVER_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

const awsName = { pattern: "^[a-z0-9-]+$", form: "lower-case letters, digits and dashes" };

function gcpSchema() {
  return object(
    {
      type: choice(
        "Which token is shown: access tokens are for Google's APIs, identity tokens for services such as Cloud Run.",
        ["AccessToken", "IdToken", "accessToken", "idToken"],
        { default: "AccessToken" },
      ),
      audience: shortText("Whom an identity token is for; the backend's host by default."),
    },
    {
      description:
        "Shows a token of whatever the gateway runs as: the file that GOOGLE_APPLICATION_CREDENTIALS names (a service account, a user, a workload identity), else what the metadata server says.",
      checks: [
        {
          message: '"audience" is only valid with type: IdToken',
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
      accessKeyId: text("The access key.", { readAtStart: true }),
      secretAccessKey: text("The secret key.", { secret: true }),
      sessionToken: text("The token of a session.", { secret: true }),
      region: shortText("The region; the one of the backend's host by default.", awsName),
      service: shortText(
        "The name that the service signs by; the one of the backend's host by default.",
        awsName,
      ),
      assumeRole: unsupported("roles of AWS that are taken on"),
    },
    {
      examples: [{ region: "eu-central-1" }],
      description:
        "Signs requests (AWS Signature Version 4), by default with the keys of whatever the gateway runs on: a profile (`AWS_PROFILE`: its keys, its role, a login at IAM Identity Center, or its program), the environment, a web identity, the container's agent, the instance.",
      checks: [
        {
          message: '"accessKeyId" and "secretAccessKey" come together',
          holds: (value) =>
            (value.accessKeyId === undefined) === (value.secretAccessKey === undefined),
          cel: "has(self.accessKeyId) == has(self.secretAccessKey)",
        },
        {
          message: '"sessionToken" belongs to an "accessKeyId"',
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
      clientId: shortText("The id of its client."),
      objectId: shortText("The id of its object."),
      resourceId: text("The id of its resource."),
    },
    {
      exactlyOneOf: ["clientId", "objectId", "resourceId"],
      description: "One that was given to the machine; the system's by default.",
    },
  );
  const explicitConfig = object(
    {
      clientSecret: object(
        {
          tenant_id: shortText("The tenant.", { readAtStart: true }),
          client_id: shortText("The application.", { readAtStart: true }),
          client_secret: text("Its secret.", { secret: true }),
        },
        {
          required: ["tenant_id", "client_id", "client_secret"],
          description: "An application of Entra.",
        },
      ),
      managedIdentity: object(
        { userAssignedIdentity: identity },
        { description: "The identity of the machine." },
      ),
      workloadIdentity: object(
        {},
        { description: "The federated token that AZURE_FEDERATED_TOKEN_FILE names." },
      ),
    },
    { exactlyOneOf: ["clientSecret", "managedIdentity", "workloadIdentity"] },
  );
  return object(
    {
      explicitConfig: { ...explicitConfig, description: "Whose token it is." },
      implicit: object(
        {},
        {
          description:
            "The token of whatever the gateway runs on: an application of the environment, a workload's identity, the machine's.",
        },
      ),
      developerImplicit: unsupported("the login of Azure's command line"),
      scope: text("What the token is for.", { default: AZURE_SCOPE }),
    },
    {
      exactlyOneOf: ["explicitConfig", "implicit", "developerImplicit"],
      description: "Shows a token of Microsoft Entra.",
    },
  );
}

/** What tokens for Azure OpenAI are for. */
export const AZURE_SCOPE = "https://cognitiveservices.azure.com/.default";

/** The parts of `policies` that say how a server is reached, whatever is spoken to it, as the schema lets them through. */
export type ConnectionValue = ObjectValue<ReturnType<typeof connectionSchemas>, never>;

/** A key that is shown, or the file that holds it. */
export function keySchema(description: string) {
  return either(
    anyText({ minLength: 1, maxLength: 2048, secret: true }),
    object(
      { file: text("Path of a file with the key, or with a whole value of Authorization.") },
      { required: ["file"] },
    ),
    { description },
  );
}

/** The keys of `policies` that say how a server is reached, whatever is spoken to it. */
export function connectionSchemas() {
  return {
    backendTLS: object(
      {
        cert: pemFile("the certificate that the gateway shows"),
        key: pemFile("its private key"),
        root: pemFile(
          "the authorities that sign the backend's certificate; the system's by default",
        ),
        hostname: text("The server name (SNI); the backend's host by default.", {
          maxLength: 253,
          pattern: SERVER_NAME,
          form: "a lower-case host name",
        }),
        insecure: boolean("True: any certificate will do."),
        insecureHost: boolean("True: a trusted certificate of any name will do."),
        alpn: list(
          text("A protocol: `h2`, `http/1.1`, or another one of connections.", { maxLength: 64 }),
          {
            minItems: 1,
            maxItems: 16,
            uniqueItems: true,
            description:
              "What is offered, the most wanted first; requests are made by `h2` and `http/1.1`, and `http.version` speaks one of them by default.",
          },
        ),
        subjectAltNames: list(shortText("A host name, an IP address, or a URI (`spiffe://...`)."), {
          minItems: 1,
          maxItems: 16,
          description:
            "Identifiers of which the certificate has to have one; the server name by default.",
        }),
        keyExchangeGroups: unsupported("a choice of key exchange groups"),
        spiffe: unsupported("SPIFFE certificates"),
      },
      {
        description: "TLS to the backend, by the authorities of the system unless it says others.",
        examples: [{ hostname: "shop.example.com" }],
        checks: [
          {
            message: '"cert" and "key" come together',
            holds: (value) => (value.cert === undefined) === (value.key === undefined),
            cel: "has(self.cert) == has(self.key)",
          },
          {
            message: '"root" verifies nothing beside "insecure"',
            field: "root",
            holds: ({ root, insecure }) => root === undefined || insecure !== true,
            cel: "!has(self.root) || !has(self.insecure) || !self.insecure",
          },
          {
            message:
              'only one of "insecure", "insecureHost" and "subjectAltNames" can say what is verified',
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
          "What the gateway says in `Authorization: Bearer`. Write ${NAME}, or `{file: PATH}`, which is read when the gateway starts and when it changes.",
        ),
        passthrough: object({}, { description: "The client's own token goes on to the backend." }),
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
        description: "What the gateway shows to the backend.",
      },
    ),
    http: object(
      {
        version: choice("What is spoken to the backend.", ["HTTP1", "HTTP2"], { default: "HTTP1" }),
        requestTimeout: duration("How long the head of a response may take; 504 then.", {
          minimumDuration: "1ms",
        }),
      },
      { minProperties: 1, description: "HTTP to the backend." },
    ),
    tcp: object(
      {
        keepalives: keepAliveSchema(),
        keepalive: { ...keepAliveSchema(), aliasOf: "keepalives" },
        connectTimeout: duration("How long a connection, with its TLS handshake, may take.", {
          minimumDuration: "100ms",
          default: "10s",
        }),
      },
      {
        minProperties: 1,
        atMostOneOf: ["keepalives", "keepalive"],
        description: "TCP to the backend.",
      },
    ),
  };
}
