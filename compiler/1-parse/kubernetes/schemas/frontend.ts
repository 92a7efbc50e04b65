import {
  SERVER_REFERENCES,
  serverReferenceFields,
} from "../../../backends/parts/callout-server.ts";
import { keepalive } from "../../../backends/parts/manifest-connection.ts";
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
  SAMPLINGS,
  SPAN_FILTER,
  TRACES,
} from "../../../config/frontend-fields.ts";
import { kubernetesCaptureSchema } from "../../../config/message-capture.ts";
import { proxyProtocolSchemas } from "../../../config/proxy-protocol.ts";
import { span, tinyText } from "../../../manifests/field-types.ts";
import { kubernetesConnectionRulesSchema } from "../../../policies/connection-rules.ts";
import { LABEL_NAME } from "../../../schema/label-name.ts";
import { TUNNELS_INSTEAD } from "../../../schema/refused-features.ts";
import {
  choice,
  expression,
  inPhase,
  list,
  object,
  shortText,
  text,
  unsupportedBut,
  type ValueCheck,
} from "../../../schema/schema.ts";

const tlsVersion = (description: string) => choice(description, ["1.2", "1.3"]);

const tls = object(
  {
    handshakeTimeout: handshakeTimeout(span),
    alpnProtocols: alpnProtocols.manifest,
    minProtocolVersion: tlsVersion("Minimum TLS version."),
    maxProtocolVersion: tlsVersion("Maximum TLS version."),
    cipherSuites: cipherSuites.manifest,
    keyExchangeGroups: keyExchangeGroups.manifest,
  },
  {
    description: "TLS with clients.",
    atLeastOneOf: [
      ...["handshakeTimeout", "alpnProtocols", "minProtocolVersion"],
      ...["maxProtocolVersion", "cipherSuites", "keyExchangeGroups"],
    ],
  },
);

const httpFields = {
  ...frontendHttpFields(span),
  http1HeaderCase: headerCase("Preserve", "Lowercase"),
  http2MaxHeaderSize: http2HeaderSize(),
  maxConnectionDuration: maxConnectionDuration(span),
};

const attribute = object(
  { name: shortText("Its name."), expression: inPhase("log", expression("Its value.")) },
  { required: ["name", "expression"] },
);

const attributesOf = (description: string) =>
  object(
    {
      remove: list(tinyText("Name of a field."), {
        minItems: 1,
        maxItems: 32,
        description: "Fields to remove.",
      }),
      add: list(attribute, { minItems: 1, description: "Fields to add or replace." }),
    },
    { atLeastOneOf: ["remove", "add"], description },
  );
const attributes = attributesOf("Attributes of each request.");

const collectorPath = (defaultPath: string) =>
  text(`Path of the server for OTLP over HTTP; ${defaultPath} by default.`, {
    maxLength: 1024,
    pattern: "^/[!-~]*$",
    form: 'a path that begins with "/"',
  });

/** The path of a collector only applies to HTTP. */
const pathOverHttp = (defaultProtocol: "HTTP" | "GRPC"): ValueCheck => ({
  message: '"path" is only for protocol: HTTP',
  field: "path",
  holds: ({ path, protocol = defaultProtocol }) => path === undefined || protocol === "HTTP",
  cel: `!has(self.path) || (has(self.protocol) ? self.protocol : '${defaultProtocol}') == 'HTTP'`,
});

const tracing = object(
  {
    ...serverReferenceFields("The OTLP server."),
    protocol: choice("Protocol of the server.", ["HTTP", "GRPC"], { default: "HTTP" }),
    path: collectorPath("/v1/traces"),
    attributes,
    resources: list(attribute, { description: "Attributes of the gateway itself." }),
    randomSampling: expression(SAMPLINGS.randomSampling),
    clientSampling: expression(SAMPLINGS.clientSampling),
    filter: inPhase("log", expression(SPAN_FILTER)),
    capture: kubernetesCaptureSchema("span"),
  },
  {
    exactlyOneOf: [...SERVER_REFERENCES],
    checks: [pathOverHttp("HTTP")],
    description: TRACES,
  },
);

const otlp = object(
  {
    ...serverReferenceFields(RECORD_SERVER),
    filter: inPhase("log", expression(RECORD_FILTER)),
    attributes: attributesOf(RECORD_FIELDS),
    capture: kubernetesCaptureSchema("event"),
    protocol: choice("Protocol of the server.", ["HTTP", "GRPC"], { default: "GRPC" }),
    path: collectorPath("/v1/logs"),
  },
  {
    exactlyOneOf: [...SERVER_REFERENCES],
    checks: [pathOverHttp("GRPC")],
    description: "Records of requests, and their collector.",
  },
);

/** Fields of `frontend` in a GatewayPolicy. */
export const frontendFields = {
  tcp: object(
    { keepalive },
    { atLeastOneOf: ["keepalive"], description: "TCP settings of client connections." },
  ),
  networkAuthorization: kubernetesConnectionRulesSchema,
  tls,
  proxyProtocol: proxyProtocolSchemas.manifest,
  http: object(httpFields, {
    atLeastOneOf: Object.keys(httpFields),
    description: "HTTP with clients.",
  }),
  accessLog: object(
    { filter: inPhase("log", expression(LOG_FILTER)), attributes, otlp },
    { description: "Access log: logged requests and their fields." },
  ),
  tracing,
  connect: unsupportedBut("CONNECT on all listeners", TUNNELS_INSTEAD),
  metrics: object(
    {
      attributes: object(
        {
          add: list(
            object(
              {
                name: text("Its name.", LABEL_NAME),
                expression: inPhase("log", expression("Its value.")),
              },
              { required: ["name", "expression"] },
            ),
            { minItems: 1, maxItems: 16, description: METRIC_LABELS },
          ),
        },
        { required: ["add"], description: "The labels." },
      ),
    },
    { required: ["attributes"], description: "Own labels of metrics about requests." },
  ),
};
