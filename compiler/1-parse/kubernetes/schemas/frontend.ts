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
        "The protocols that clients may choose (ALPN): `h2` and `http/1.1` of HTTPS, any others of TLS that ends here and whose connections are passed on.",
    }),
    minProtocolVersion: tlsVersion("The lowest TLS version."),
    maxProtocolVersion: tlsVersion("The highest TLS version."),
    cipherSuites: list(choice("A cipher suite.", CIPHER_SUITES), {
      description: "The cipher suites that are taken.",
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
    remove: list(tinyText("A field that is dropped."), {
      minItems: 1,
      maxItems: 32,
      description: "Fields that are left out.",
    }),
    add: list(
      object(
        { name: shortText("Its name."), expression: expression("Its value.") },
        { required: ["name", "expression"] },
      ),
      { minItems: 1, description: "Fields beside those, or in their place." },
    ),
  },
  { atLeastOneOf: ["remove", "add"], description: "What is said of each request." },
);

const collectorPath = (defaultPath: string) =>
  text(`Where the server takes them over HTTP; ${defaultPath} by default.`, {
    maxLength: 1024,
    pattern: "^/[!-~]*$",
    form: 'a path that begins with "/"',
  });

/** A collector's path acts over HTTP alone. */
const pathOverHttp = (defaultProtocol: "HTTP" | "GRPC"): ValueCheck => ({
  message: '"path" is only for protocol: HTTP',
  field: "path",
  holds: ({ path, protocol = defaultProtocol }) => path === undefined || protocol === "HTTP",
  cel: `!has(self.path) || (has(self.protocol) ? self.protocol : '${defaultProtocol}') == 'HTTP'`,
});

const tracing = object(
  {
    backendRef: backendReference("The OTLP server."),
    protocol: choice("How it is spoken to.", ["HTTP", "GRPC"], { default: "HTTP" }),
    path: collectorPath("/v1/traces"),
    attributes,
    resources: list(
      object(
        { name: shortText("Its name."), expression: expression("Its value.") },
        { required: ["name", "expression"] },
      ),
      { description: "What the gateway says of itself." },
    ),
    randomSampling: expression(
      "How many of the requests without a trace get one: a share (`0.1`), `true`, or an expression over the request. None by default.",
    ),
    clientSampling: expression(
      "How many of the requests whose sender records their trace are traced here too. All by default.",
    ),
  },
  {
    required: ["backendRef"],
    checks: [pathOverHttp("HTTP")],
    description: "Traces of requests (OpenTelemetry), and where they go.",
  },
);

const otlp = object(
  {
    backendRef: backendReference("The OTLP server that gets a record of each line."),
    protocol: choice("How it is spoken to.", ["HTTP", "GRPC"], { default: "GRPC" }),
    path: collectorPath("/v1/logs"),
  },
  {
    required: ["backendRef"],
    checks: [pathOverHttp("GRPC")],
    description: "Records of access lines, and where they go.",
  },
);

/** The fields of a GatewayPolicy's `frontend`. */
export const frontendFields = {
  tcp: object(
    { keepalive },
    { atLeastOneOf: ["keepalive"], description: "Connections of clients." },
  ),
  networkAuthorization: kubernetesConnectionRulesSchema,
  tls,
  proxyProtocol: object(
    {
      version: choice("Which versions of the header are taken.", ["V1", "V2", "All"], {
        default: "V2",
      }),
      mode: choice("Whether every connection has to begin with a header.", ["Strict", "Optional"], {
        default: "Strict",
      }),
      trustedSources,
    },
    {
      description:
        "Proxies before the gateway that say for whom they make a connection (HAProxy's PROXY protocol).",
    },
  ),
  http: object(httpFields, {
    atLeastOneOf: Object.keys(httpFields),
    description: "HTTP with clients.",
  }),
  accessLog: object(
    { filter: expression("Which requests are logged."), attributes, otlp },
    { description: "Which requests have a line in the log, and what it says." },
  ),
  tracing,
};
