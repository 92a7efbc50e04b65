import { keepAliveSchema } from "../../schema/keep-alive.ts";
import { keyExchangeSchemas } from "../../schema/key-exchange.ts";
import {
  boolean,
  choice,
  duration,
  list,
  type ObjectValue,
  object,
  shortText,
  text,
} from "../../schema/schema.ts";

/** Returns the schema of a path of a PEM file. */
function pemFile(what: string) {
  return text(`Path of ${what} (PEM), read at start and again whenever it changes.`);
}

const SERVER_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/** Fields of TLS that an identity replaces. */
const IN_IDENTITY = [
  "cert",
  "key",
  "root",
  "insecure",
  "insecureHost",
  "keyExchangeGroups",
] as const;

/** Connection policies of a server without its credentials, as validated by their schemas. */
export type ServerConnectionValue = ObjectValue<ReturnType<typeof serverConnectionSchemas>, never>;

/** Returns the schemas of the connection policies of a server, without its credentials. */
export function serverConnectionSchemas() {
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
        keyExchangeGroups: keyExchangeSchemas("the gateway offers").file,
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
