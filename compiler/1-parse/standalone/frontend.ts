import { TOKEN_PATTERN } from "../../backends/parts/header-fields.ts";
import {
  alpnProtocols,
  cipherSuites,
  frontendHttpFields,
  handshakeTimeout,
  headerCase,
  http2HeaderSize,
  keyExchangeGroups,
  LOG_FILTER,
  METRIC_LABELS,
  maxConnectionDuration,
  RECORD_FIELDS,
  RECORD_FILTER,
  RECORD_SERVER,
} from "../../config/frontend-fields.ts";
import { captureSchema } from "../../config/message-capture.ts";
import { proxyProtocolSchemas } from "../../config/proxy-protocol.ts";
import { connectionCheckSchema } from "../../policies/connection-check.ts";
import { connectionRulesSchema } from "../../policies/connection-rules.ts";
import { keepAliveSchema } from "../../schema/keep-alive.ts";
import { LABEL_NAME } from "../../schema/label-name.ts";
import { TUNNELS_INSTEAD } from "../../schema/refused-features.ts";
import {
  byteCount,
  expression,
  type Infer,
  ignored,
  inPhase,
  integer,
  list,
  map,
  object,
  type Schema,
  text,
  unsupportedBut,
  type ValueCheck,
} from "../../schema/schema.ts";
import { eitherField } from "../../schema/value-checks.ts";
import { COLLECTORS, collectorFields, pathCheck, tracingSchema } from "./tracing.ts";

/** Spellings of TLS versions; YAML reads an unquoted 1.2 as a number. */
const TLS_VERSIONS = ["TLS_V1_2", "TLS_V1_3", "1.2", "1.3", 1.2, 1.3];

/** Schema of the minimum or maximum TLS version. */
export function tlsVersionSchema(description: string): Schema<string | number> {
  return { type: ["string", "number"], enum: TLS_VERSIONS, description };
}

/** Type of valid `frontendPolicies`. */
export type FrontendValue = Infer<ReturnType<typeof frontendSchema>>;

/** Schema of `frontendPolicies`: settings of the gateway towards its clients, on every bind. */
export function frontendSchema() {
  return object(
    {
      http: object(
        {
          ...frontendHttpFields(),
          minRequestBodyRate: byteCount(
            "Minimum rate, in bytes per second, of request bodies that are buffered as a whole; slower ones get 408 after five " +
              "seconds. 0 for no minimum.",
            0,
            1_073_741_824,
            { default: 240 },
          ),
          http1HeaderCase: headerCase("preserve", "lowercase"),
          http2MaxHeaderSize: http2HeaderSize(),
          maxConnectionDuration: maxConnectionDuration(),
        },
        { minProperties: 1, description: "HTTP with clients." },
      ),
      tls: object(
        {
          handshakeTimeout: handshakeTimeout(),
          alpn: alpnProtocols.file,
          minVersion: tlsVersionSchema("Minimum TLS version. 1.2 by default."),
          maxVersion: tlsVersionSchema("Maximum TLS version. 1.3 by default."),
          cipherSuites: cipherSuites.file,
          keyExchangeGroups: keyExchangeGroups.file,
        },
        {
          minProperties: 1,
          description: "TLS settings of listeners that do not set their own.",
        },
      ),
      tcp: object(
        {
          keepalives: keepAliveSchema(),
          keepalive: keepAliveSchema(),
          maxConnections: integer(
            "Maximum number of concurrent connections per port; further ones are closed at once.",
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
          header: text("Header with the id.", {
            pattern: TOKEN_PATTERN,
            form: "the name of a header",
            default: "x-request-id",
          }),
        },
        {
          checks: [ownHeader],
          description:
            "Id of each request: that of the client if it is well-formed, otherwise a new one. It is forwarded to upstreams, and appears in access lines and spans as `request.id`.",
        },
      ),
      metrics: object(
        {
          add: metricLabelsSchema,
        },
        { required: ["add"], description: "Own labels of metrics about requests." },
      ),
      networkAuthorization: connectionRulesSchema,
      networkExtAuthz: connectionCheckSchema,
      proxyProtocol: proxyProtocolSchemas.file,
      proxy: { ...proxyProtocolSchemas.file, aliasOf: "proxyProtocol" },
      connect: unsupportedBut("CONNECT on all listeners", TUNNELS_INSTEAD),
    },
    {
      hasParts: true,
      atMostOneOf: ["accessLog", "logging"],
      checks: [eitherField("proxyProtocol", "proxy")],
      description: "Settings of the gateway towards its clients, on every bind.",
    },
  );
}

/** Headers that route, authenticate or trace a request, or describe its body. */
const MEANING =
  /^(host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|expect|origin|cookie|forwarded|traceparent|tracestate|baggage|(proxy-)?authorization|proxy-.*|content-.*|accept.*|mcp-.*|x-forwarded-.*)$/i;

/** The id would replace the value of the header. */
const ownHeader: ValueCheck = {
  message: '"header" must not be a header with another meaning',
  field: "header",
  holds: ({ header }) => typeof header !== "string" || !MEANING.test(header),
  cel: `!has(self.header) || !self.header.matches('(?i)${MEANING.source}')`,
};

/** Schema of own labels of metrics, by name. */
export const metricLabelsSchema = map(inPhase("log", expression("CEL expression for the value.")), {
  minProperties: 1,
  maxProperties: 16,
  propertyNames: { pattern: LABEL_NAME.pattern, form: LABEL_NAME.form },
  description: METRIC_LABELS,
});

/** Schema of fields to remove from or add to access lines. */
export function logFieldsSchema() {
  return {
    remove: list(text("A field's name: `http.version`.", { maxLength: 64 }), {
      minItems: 1,
      maxItems: 32,
      description: "Fields to remove.",
    }),
    add: inPhase(
      "log",
      map(expression("CEL expression for the value; the field is omitted if it fails."), {
        minProperties: 1,
        description: "Fields to add or replace. Values are truncated to 4096 characters.",
      }),
    ),
  };
}

function accessLogSchema() {
  return object(
    {
      filter: inPhase("log", expression(LOG_FILTER)),
      ...logFieldsSchema(),
      database: ignored(
        "gwc does not write requests to a database",
        "write them to the access log or a collector: accessLog: { otlp: {...} }",
      ),
      otlp: object(
        {
          ...collectorFields("/v1/logs"),
          filter: inPhase("log", expression(RECORD_FILTER)),
          fields: object(logFieldsSchema(), {
            atLeastOneOf: ["remove", "add"],
            description: RECORD_FIELDS,
          }),
          capture: captureSchema("event"),
        },
        {
          exactlyOneOf: COLLECTORS,
          checks: [pathCheck("protocol")],
          description: RECORD_SERVER,
        },
      ),
    },
    { atLeastOneOf: ["filter", "remove", "add", "otlp"], description: "The access log." },
  );
}
