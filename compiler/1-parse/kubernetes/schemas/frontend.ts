import { CIPHER_SUITES } from "../../../config/frontend.ts";
import { frontendHttpFields, handshakeTimeout } from "../../../config/frontend-fields.ts";
import { backendReference, span, tinyText } from "../../../manifests/field-types.ts";
import { choice, expression, list, object, shortText } from "../../../schema/schema.ts";
import { keepalive } from "./connection.ts";

const tlsVersion = (description: string) => choice(description, ["1.2", "1.3"]);

const tls = object(
  {
    handshakeTimeout: handshakeTimeout(span),
    alpnProtocols: list(tinyText("A protocol."), { minItems: 1, maxItems: 16 }),
    minProtocolVersion: tlsVersion("The lowest TLS version."),
    maxProtocolVersion: tlsVersion("The highest TLS version."),
    cipherSuites: list(choice("A cipher suite.", CIPHER_SUITES)),
  },
  {
    atLeastOneOf: [
      ...["handshakeTimeout", "alpnProtocols", "minProtocolVersion"],
      ...["maxProtocolVersion", "cipherSuites"],
    ],
  },
);

const httpFields = frontendHttpFields(span);

const attributes = object(
  {
    remove: list(tinyText("A field that is dropped."), { minItems: 1, maxItems: 32 }),
    add: list(
      object(
        { name: shortText("Its name."), expression: expression("Its value.") },
        { required: ["name", "expression"] },
      ),
      { minItems: 1 },
    ),
  },
  { atLeastOneOf: ["remove", "add"] },
);

const tracing = object(
  {
    backendRef: backendReference("The OTLP server."),
    protocol: choice("How it is spoken to.", ["HTTP", "GRPC"], { default: "HTTP" }),
    attributes,
    resources: list(
      object(
        { name: shortText("Its name."), expression: expression("Its value.") },
        { required: ["name", "expression"] },
      ),
    ),
    randomSampling: expression("How many of the requests without a trace get one."),
    clientSampling: expression("How many of the requests with a trace are traced."),
  },
  {
    required: ["backendRef"],
    description: "Traces of requests (OpenTelemetry), and where they go.",
  },
);

const otlp = object(
  {
    backendRef: backendReference("The OTLP server that gets a record of each line."),
    protocol: choice("How it is spoken to.", ["HTTP", "GRPC"], { default: "GRPC" }),
  },
  { required: ["backendRef"], description: "Records of access lines, and where they go." },
);

/** The fields of a GatewayPolicy's `frontend`. */
export const frontendFields = {
  tcp: object({ keepalive }, { atLeastOneOf: ["keepalive"] }),
  tls,
  http: object(httpFields, { atLeastOneOf: Object.keys(httpFields) }),
  accessLog: object({ filter: expression("Which requests are logged."), attributes, otlp }),
  tracing,
};
