import { DEFAULT_USER_CLAIM } from "../../model/user-connections.ts";
import { keepAliveSchema } from "../../schema/keep-alive.ts";
import { GROUPS_INSTEAD } from "../../schema/refused-features.ts";
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
  unsupportedBut,
} from "../../schema/schema.ts";
import { awsAuthSchema, azureAuthSchema, gcpAuthSchema } from "./cloud-schema.ts";
import {
  clientCredentialsSchema,
  crossAppAccessSchema,
  tokenExchangeSchema,
} from "./exchange-file-form.ts";
import { credentialSchema, moreCredentialsSchema, sentPlaceSchema } from "./sent-credentials.ts";
import { signedTokenSchema } from "./signed-token.ts";

/** Returns the schema of a path of a PEM file. */
function pemFile(what: string) {
  return text(`Path of ${what} (PEM), read at start and again whenever it changes.`);
}

const SERVER_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

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

/** Fields of TLS that an identity replaces. */
const IN_IDENTITY = ["cert", "key", "root", "insecure", "insecureHost"] as const;

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
        keyExchangeGroups: unsupportedBut("a choice of key exchange groups", GROUPS_INSTEAD),
        spiffe: object(
          {},
          {
            description:
              "Shows the gateway's identity of the SPIFFE Workload API (`config.spiffe`), and accepts workloads of its trust domain; with `subjectAltNames`, only these.",
          },
        ),
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
            message: `"spiffe" excludes ${IN_IDENTITY.map((field) => `"${field}"`).join(", ")}`,
            field: "spiffe",
            holds: (value) =>
              value.spiffe === undefined ||
              IN_IDENTITY.every((field) => value[field] === undefined),
            cel: `!has(self.spiffe) || !(${IN_IDENTITY.map((field) => `has(self.${field})`).join(" || ")})`,
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
