import { TOKEN_PATTERN } from "../../backends/parts/header-fields.ts";
import { CIPHER_SUITES } from "../../config/frontend.ts";
import {
  frontendHttpFields,
  handshakeTimeout,
  http2HeaderSize,
} from "../../config/frontend-fields.ts";
import { trustedSources } from "../../config/proxy-protocol.ts";
import { connectionRulesSchema } from "../../policies/connection-rules.ts";
import { keepAliveSchema } from "../../schema/keep-alive.ts";
import {
  byteCount,
  choice,
  duration,
  eitherField,
  expression,
  type Infer,
  integer,
  list,
  map,
  object,
  type Schema,
  text,
  unsupported,
  type ValueCheck,
} from "../../schema/schema.ts";
import { COLLECTORS, collectorFields, pathCheck, tracingSchema } from "./tracing.ts";

/** Spellings of TLS versions; YAML reads a bare 1.2 as a number. */
const TLS_VERSIONS = ["TLS_V1_2", "TLS_V1_3", "1.2", "1.3", 1.2, 1.3];

/** The lowest or highest TLS version. */
export function tlsVersionSchema(description: string): Schema<string | number> {
  return { type: ["string", "number"], enum: TLS_VERSIONS, description };
}

/** A choice of cipher suites. */
export function cipherSuitesSchema() {
  return list(choice("A cipher suite.", CIPHER_SUITES), {
    minItems: 1,
    maxItems: CIPHER_SUITES.length,
    uniqueItems: true,
    description: "The cipher suites that clients may choose from, the most wanted first.",
  });
}

/** `frontendPolicies` as the schema lets it through. */
export type FrontendValue = Infer<ReturnType<typeof frontendSchema>>;

/** `frontendPolicies`: how the gateway meets its clients, on every bind. */
export function frontendSchema() {
  return object(
    {
      http: object(
        {
          ...frontendHttpFields(),
          minRequestBodyRate: byteCount(
            "Bytes per second at which a request body has to come where it is read whole; a slower one is a 408 after five " +
              "seconds. 0: at any rate.",
            0,
            1_073_741_824,
            { default: 240 },
          ),
          http1HeaderCase: unsupported("a choice of the case of header names"),
          http2MaxHeaderSize: http2HeaderSize(),
          maxConnectionDuration: duration(
            "How long a connection lasts before it ends with the response under way; tunnels stay.",
            { minimumDuration: "1s" },
          ),
        },
        { minProperties: 1, description: "HTTP with clients." },
      ),
      tls: object(
        {
          handshakeTimeout: handshakeTimeout(),
          alpn: list(text("A protocol.", { minLength: 1, maxLength: 64 }), {
            minItems: 1,
            maxItems: 16,
            uniqueItems: true,
            description:
              "The protocols that clients may choose (ALPN), the most wanted first: `h2` and `http/1.1` of HTTPS, any others (`mqtt`, `postgresql`) of TLS that ends here and whose connections are passed on.",
          }),
          minVersion: tlsVersionSchema("The lowest TLS version. 1.2 by default."),
          maxVersion: tlsVersionSchema("The highest TLS version. 1.3 by default."),
          cipherSuites: cipherSuitesSchema(),
          keyExchangeGroups: unsupported("a choice of key exchange groups"),
        },
        {
          minProperties: 1,
          description: "TLS with clients, where a listener does not say it itself.",
        },
      ),
      tcp: object(
        {
          keepalives: keepAliveSchema(),
          keepalive: keepAliveSchema(),
          maxConnections: integer(
            "Connections that each port has at once; one more is closed as soon as it is there.",
            1,
            1_000_000,
            { default: 10_000 },
          ),
        },
        {
          minProperties: 1,
          atMostOneOf: ["keepalives", "keepalive"],
          description: "TCP with clients.",
        },
      ),
      accessLog: accessLogSchema(),
      logging: { ...accessLogSchema(), aliasOf: "accessLog" },
      tracing: tracingSchema(),
      requestId: object(
        {
          header: text("The header that it stands in.", {
            pattern: TOKEN_PATTERN,
            form: "the name of a header",
            default: "x-request-id",
          }),
        },
        {
          checks: [ownHeader],
          description:
            "An id of each request: the one that it brings when that is well-formed, else a new one. It goes on to upstreams, and stands in access lines and spans as `request.id`.",
        },
      ),
      networkAuthorization: connectionRulesSchema,
      networkExtAuthz: unsupported("external authorization of connections"),
      proxyProtocol: proxyProtocolSchema(),
      proxy: { ...proxyProtocolSchema(), aliasOf: "proxyProtocol" },
      connect: unsupported("the CONNECT method"),
    },
    {
      hasParts: true,
      atMostOneOf: ["accessLog", "logging"],
      checks: [eitherField("proxyProtocol", "proxy")],
      description: "How the gateway meets its clients, on every bind.",
    },
  );
}

/** Headers by which a request is sent, authenticated or traced, or that say what its body is. */
const MEANING =
  /^(host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|expect|origin|cookie|forwarded|traceparent|tracestate|baggage|(proxy-)?authorization|proxy-.*|content-.*|accept.*|mcp-.*|x-forwarded-.*)$/i;

/** An id would replace what the header says. */
const ownHeader: ValueCheck = {
  message: '"header" must be one that says nothing else: this one has a meaning of its own',
  field: "header",
  holds: ({ header }) => typeof header !== "string" || !MEANING.test(header),
  cel: `!has(self.header) || !self.header.matches('(?i)${MEANING.source}')`,
};

function proxyProtocolSchema() {
  return object(
    {
      version: choice("Which versions of the header are taken.", ["v1", "v2", "all"], {
        default: "v2",
      }),
      mode: choice("Whether every connection has to begin with a header.", ["strict", "optional"], {
        default: "strict",
      }),
      trustedSources,
    },
    {
      description:
        "Proxies before the gateway that say for whom they make a connection (HAProxy's PROXY protocol): that client's address is the one that rules, limits and logs see.",
    },
  );
}

/** Fields of access lines that are left out or added. */
export function logFieldsSchema() {
  return {
    remove: list(text("A field's name: `http.version`.", { maxLength: 64 }), {
      minItems: 1,
      maxItems: 32,
      description: "Fields that are left out.",
    }),
    add: map(expression("A CEL expression: the field's value; one that fails is left out."), {
      minProperties: 1,
      description:
        "Fields beside the usual ones, or in their place. A value is cut after 4096 characters.",
    }),
  };
}

function accessLogSchema() {
  return object(
    {
      filter: expression("Which requests have a line: a CEL expression that is true for them."),
      ...logFieldsSchema(),
      otlp: object(
        {
          ...collectorFields("/v1/logs"),
          fields: unsupported("fields of their own for records"),
        },
        {
          exactlyOneOf: COLLECTORS,
          checks: [pathCheck("protocol")],
          description: "An OTLP server that gets a record of each line, with the same fields.",
        },
      ),
      database: unsupported("access lines in a database"),
    },
    { atLeastOneOf: ["filter", "remove", "add", "otlp"], description: "The access log." },
  );
}
