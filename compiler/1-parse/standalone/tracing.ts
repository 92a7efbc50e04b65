import { backendPolicySchemas } from "../../backends/parts/policies-schema.ts";
import {
  choice,
  either,
  expression,
  type Infer,
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

/** `frontendPolicies.tracing` as the schema lets it through. */
export type TracingValue = Infer<ReturnType<typeof tracingSchema>>;
/** `config.tracing` as the schema lets it through. */
export type ProcessTracingValue = Infer<ReturnType<typeof processTracingSchema>>;

/** The shape of `frontendPolicies.tracing`. */
export function tracingSchema() {
  return object(
    {
      ...collectorFields("/v1/traces"),
      attributes: attributeMap(
        "Attributes of the spans of requests, beside the default ones or in their place.",
      ),
      remove: removed(),
      resources: attributeMap("What the gateway says of itself, beside its name and its place."),
      ...samplings(),
      filter: unsupported("filters of spans"),
    },
    {
      exactlyOneOf: COLLECTORS,
      misplacedFieldHints: shares,
      checks: [pathCheck("protocol")],
      description: "Traces of requests (OpenTelemetry), and where they go.",
    },
  );
}

/** The shape of `config.tracing`. */
export function processTracingSchema() {
  return object(
    {
      otlpEndpoint: text("The URL of the OTLP server, or `host:port`.", { readAtStart: true }),
      headers: map(text("Its value.", { secret: true }), {
        description: "Headers of the requests that carry spans.",
      }),
      otlpProtocol: protocol(),
      path: path("/v1/traces"),
      fields: object(
        {
          remove: removed(),
          add: attributeMap("Attributes beside the default ones, or in their place."),
        },
        { atLeastOneOf: ["remove", "add"], description: "What the spans of requests say." },
      ),
      ...samplings(),
    },
    {
      required: ["otlpEndpoint"],
      misplacedFieldHints: shares,
      checks: [pathCheck("otlpProtocol")],
      description: "Traces of requests; `frontendPolicies.tracing` stands above it.",
    },
  );
}

/** The fields that say where an OTLP server is, and how it is spoken to. */
export function collectorFields(defaultPath: string) {
  return {
    host: text("`host:port` of the OTLP server, or its URL.", { readAtStart: true }),
    service: unsupported("mesh services"),
    backend: shortText("The name of one of the file's `backends`: the OTLP server."),
    policies: object(
      {
        ...pick(backendPolicySchemas(), ["backendTLS", "backendAuth", "http", "tcp"]),
        requestHeaderModifier: unsupported("header modifiers of spans on their way"),
        transformations: unsupported("transformations of spans on their way"),
        backendTunnel: unsupported("tunnels to backends"),
      },
      { description: "How the server is reached." },
    ),
    protocol: protocol(),
    path: path(defaultPath),
  };
}

/** The names of which one says where it is. */
export const COLLECTORS = ["host", "service", "backend"] as const;

function protocol() {
  return choice("How the server is spoken to: `http` is OTLP/HTTP with JSON.", ["http", "grpc"], {
    default: "grpc",
  });
}

/** gRPC has its own paths. */
export function pathCheck(protocolField: "protocol" | "otlpProtocol"): ValueCheck {
  return {
    message: `"path" is only for ${protocolField}: http`,
    field: "path",
    holds: (value) => value.path === undefined || value[protocolField] === "http",
    cel: `!has(self.path) || (has(self.${protocolField}) && self.${protocolField} == 'http')`,
  };
}

function path(defaultPath: string) {
  return text("Where the server takes them over HTTP.", {
    pattern: "^/[!-~]*$",
    form: 'a path that begins with "/"',
    default: defaultPath,
  });
}

function attributeMap(description: string) {
  return map(expression("A CEL expression; one that fails adds nothing."), {
    description,
  });
}

function removed() {
  return list(text("An attribute: `user_agent.original`.", { maxLength: 64 }), {
    minItems: 1,
    maxItems: 32,
    description: "Attributes that are left out, by their names or those of access lines.",
  });
}

const SHARE = "write randomSampling: 0.1 to trace one request of ten";

/** What people look for where it says how many requests are traced. */
const shares = {
  ...{ sampling: SHARE, samplingRate: SHARE, samplingRatio: SHARE },
  ...{ sampleRate: SHARE, sampler: SHARE, ratio: SHARE },
};

/** A share (0 to 1), true or false, or a CEL expression that says one of them. */
function samplings() {
  return {
    randomSampling: sampling(
      "How many of the requests without a trace are traced: a share (`0.1`), true, or a CEL expression over the request. " +
        "None by default.",
    ),
    clientSampling: sampling(
      "How many of the requests whose sender records their trace are traced here too. All by default.",
    ),
  };
}

function sampling(description: string): Schema<string | number | boolean> {
  const share = number("A share of the requests.", 0, 1);
  const bool: Schema<boolean> = { type: "boolean" };
  return either(either(share, bool), expression("A CEL expression."), { description });
}
