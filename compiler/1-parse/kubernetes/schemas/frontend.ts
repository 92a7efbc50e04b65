import { CIPHER_SUITES } from "../../../config/frontend.ts";
import {
  frontendHttpFields,
  handshakeTimeout,
  http2HeaderSize,
} from "../../../config/frontend-fields.ts";
import { trustedSources } from "../../../config/proxy-protocol.ts";
import { backendReference, span, tinyText } from "../../../manifests/field-types.ts";
import { kubernetesConnectionRulesSchema } from "../../../policies/connection-rules.ts";
import {
  choice,
  expression,
  list,
  object,
  shortText,
  text,
  type ValueCheck,
} from "../../../schema/schema.ts";
import { keepalive } from "./connection.ts";

const tlsVersion = (description: string) => choice(description, ["1.2", "1.3"]);

const tls = object(
  {
    handshakeTimeout: handshakeTimeout(span),
    alpnProtocols: list(tinyText("A protocol."), {
      minItems: 1,
      maxItems: 16,
      description:
        "Protocols that clients can negotiate (ALPN): `h2` and `http/1.1` for HTTPS, any others for terminated TLS connections that are forwarded as TCP.",
    }),
    minProtocolVersion: tlsVersion("Minimum TLS version."),
    maxProtocolVersion: tlsVersion("Maximum TLS version."),
    cipherSuites: list(choice("A cipher suite.", CIPHER_SUITES), {
      description: "Allowed cipher suites.",
    }),
  },
  {
    description: "TLS with clients.",
    atLeastOneOf: [
      ...["handshakeTimeout", "alpnProtocols", "minProtocolVersion"],
      ...["maxProtocolVersion", "cipherSuites"],
    ],
  },
);

const httpFields = {
  ...frontendHttpFields(span),
  http2MaxHeaderSize: http2HeaderSize(),
};

const attributes = object(
  {
    remove: list(tinyText("Name of a field."), {
      minItems: 1,
      maxItems: 32,
      description: "Fields to remove.",
    }),
    add: list(
      object(
        { name: shortText("Its name."), expression: expression("Its value.") },
        { required: ["name", "expression"] },
      ),
      { minItems: 1, description: "Fields to add or replace." },
    ),
  },
  { atLeastOneOf: ["remove", "add"], description: "Attributes of each request." },
);

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
    backendRef: backendReference("The OTLP server."),
    protocol: choice("Protocol of the server.", ["HTTP", "GRPC"], { default: "HTTP" }),
    path: collectorPath("/v1/traces"),
    attributes,
    resources: list(
      object(
        { name: shortText("Its name."), expression: expression("Its value.") },
        { required: ["name", "expression"] },
      ),
      { description: "Attributes of the gateway itself." },
    ),
    randomSampling: expression(
      "Fraction of requests without a trace that start one: a number (`0.1`), `true`, or an expression over the request. None by default.",
    ),
    clientSampling: expression(
      "Fraction of requests with a recorded trace that are traced here too. All by default.",
    ),
  },
  {
    required: ["backendRef"],
    checks: [pathOverHttp("HTTP")],
    description: "Traces of requests (OpenTelemetry), and their collector.",
  },
);

const otlp = object(
  {
    backendRef: backendReference("OTLP server that receives a record of each line."),
    protocol: choice("Protocol of the server.", ["HTTP", "GRPC"], { default: "GRPC" }),
    path: collectorPath("/v1/logs"),
  },
  {
    required: ["backendRef"],
    checks: [pathOverHttp("GRPC")],
    description: "Records of access lines, and their collector.",
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
  proxyProtocol: object(
    {
      version: choice("Accepted versions of the header.", ["V1", "V2", "All"], {
        default: "V2",
      }),
      mode: choice("Whether every connection must begin with a header.", ["Strict", "Optional"], {
        default: "Strict",
      }),
      trustedSources,
    },
    {
      description:
        "PROXY protocol (HAProxy), in which proxies in front of the gateway send the address of the client.",
    },
  ),
  http: object(httpFields, {
    atLeastOneOf: Object.keys(httpFields),
    description: "HTTP with clients.",
  }),
  accessLog: object(
    { filter: expression("Requests that are logged."), attributes, otlp },
    { description: "Access log: logged requests and their fields." },
  ),
  tracing,
};
