import { backendPolicySchemas } from "../../backends/parts/policies-schema.ts";
import { serviceReferenceSchema } from "../../backends/parts/service-reference.ts";
import { SAMPLINGS, SPAN_FILTER, TRACES } from "../../config/frontend-fields.ts";
import { captureSchema } from "../../config/message-capture.ts";
import {
  choice,
  either,
  expression,
  type Infer,
  inPhase,
  list,
  map,
  number,
  object,
  pick,
  type Schema,
  shortText,
  text,
  unsupported,
  type ValueCheck,
} from "../../schema/schema.ts";

/** Type of a valid `frontendPolicies.tracing`. */
export type TracingValue = Infer<ReturnType<typeof tracingSchema>>;
/** Type of a valid `config.tracing`. */
export type ProcessTracingValue = Infer<ReturnType<typeof processTracingSchema>>;

/** Schema of `frontendPolicies.tracing`. */
export function tracingSchema() {
  return object(
    {
      ...collectorFields("/v1/traces"),
      attributes: attributeMap("Attributes to add to spans of requests or to replace."),
      remove: removed(),
      resources: attributeMap(
        "Attributes of the gateway itself, in addition to its name and host.",
      ),
      ...samplings(),
      filter: inPhase("log", expression(SPAN_FILTER)),
      capture: captureSchema("span"),
    },
    {
      exactlyOneOf: COLLECTORS,
      misplacedFieldHints: shares,
      checks: [pathCheck("protocol")],
      description: TRACES,
    },
  );
}

/** Schema of `config.tracing`. */
export function processTracingSchema() {
  return object(
    {
      otlpEndpoint: text(
        "URL of the OTLP server, or `host:port`. A path in it is used instead of `/v1/traces`, and the protocol is then `http` by default. `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT` replaces it when the gateway starts; one of them is required if it is absent.",
        { readAtStart: true },
      ),
      headers: map(text("Its value.", { secret: true }), {
        description:
          "Headers of requests to the OTLP server. `OTEL_EXPORTER_OTLP_TRACES_HEADERS` or `OTEL_EXPORTER_OTLP_HEADERS` replaces them.",
      }),
      otlpProtocol: protocol(
        "Protocol of the server: `http` is OTLP/HTTP with JSON. `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL` or `OTEL_EXPORTER_OTLP_PROTOCOL` replaces it.",
      ),
      path: path("/v1/traces"),
      fields: object(
        {
          remove: removed(),
          add: attributeMap("Attributes to add or replace."),
        },
        { atLeastOneOf: ["remove", "add"], description: "Attributes of spans of requests." },
      ),
      ...samplings(),
    },
    {
      misplacedFieldHints: { ...addresses, ...shares },
      checks: [pathCheck("otlpProtocol")],
      description: "Traces of requests; `frontendPolicies.tracing` replaces it.",
    },
  );
}

/** Returns the fields for the address and protocol of an OTLP server. */
export function collectorFields(defaultPath: string) {
  return {
    host: text("`host:port` of the OTLP server, or its URL.", { readAtStart: true }),
    service: serviceReferenceSchema,
    backend: shortText("Name of one of the file's `backends`, which is the OTLP server."),
    policies: object(
      {
        ...pick(backendPolicySchemas(), ["backendTLS", "backendAuth", "http", "tcp"]),
        requestHeaderModifier: unsupported("header modifiers of span exports"),
        transformations: unsupported("transformations of span exports"),
        backendTunnel: unsupported("tunnels to backends"),
      },
      { description: "Connection settings of the server." },
    ),
    protocol: protocol(),
    path: path(defaultPath),
  };
}

/** Names of the fields for the address, of which one is required. */
export const COLLECTORS = ["host", "service", "backend"] as const;

function protocol(description = "Protocol of the server: `http` is OTLP/HTTP with JSON.") {
  return choice(description, ["http", "grpc"], { default: "grpc" });
}

/** Rule for the path: gRPC has its own paths. */
export function pathCheck(protocolField: "protocol" | "otlpProtocol"): ValueCheck {
  return {
    message: `"path" is only for ${protocolField}: http`,
    field: "path",
    holds: (value) => value.path === undefined || value[protocolField] === "http",
    cel: `!has(self.path) || (has(self.${protocolField}) && self.${protocolField} == 'http')`,
  };
}

function path(defaultPath: string) {
  return text("Path of the server for OTLP over HTTP.", {
    pattern: "^/[!-~]*$",
    form: 'a path that begins with "/"',
    default: defaultPath,
  });
}

function attributeMap(description: string) {
  const value = expression("CEL expression for the value; the attribute is omitted if it fails.");
  return map(inPhase("log", value), { description });
}

function removed() {
  return list(text("An attribute: `user_agent.original`.", { maxLength: 64 }), {
    minItems: 1,
    maxItems: 32,
    description: "Attributes to remove, by their names or those of access log fields.",
  });
}

const SHARE = "write randomSampling: 0.1 to trace one in ten requests";

const ADDRESS = "write it as `otlpEndpoint`";

/** Hints for other names of the collector's address. */
const addresses = { endpoint: ADDRESS, url: ADDRESS, host: ADDRESS };

/** Hints for other names of the sampling rates. */
const shares = {
  ...{ sampling: SHARE, samplingRate: SHARE, samplingRatio: SHARE },
  ...{ sampleRate: SHARE, sampler: SHARE, ratio: SHARE },
};

/** Returns the sampling rates: a number from 0 to 1, a bool, or a CEL expression that returns one of them. */
function samplings() {
  return {
    randomSampling: sampling(SAMPLINGS.randomSampling),
    clientSampling: sampling(SAMPLINGS.clientSampling),
  };
}

function sampling(description: string): Schema<string | number | boolean> {
  const share = number("Fraction of the requests.", 0, 1);
  const bool: Schema<boolean> = { type: "boolean" };
  return either(either(share, bool), expression("A CEL expression."), { description });
}
