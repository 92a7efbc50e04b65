import { backendReference, span, tinyText } from "../../../manifests/field-types.ts";
import {
  choice,
  expression,
  integer,
  list,
  object,
  shortText,
  unsupported,
} from "../../../schema/schema.ts";
import { keepalive } from "./connection.ts";

const CIPHER_SUITES = [
  "TLS13_AES_256_GCM_SHA384",
  "TLS13_AES_128_GCM_SHA256",
  "TLS13_CHACHA20_POLY1305_SHA256",
  "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
  "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
] as const;

const tlsVersion = (description: string) => choice(description, ["1.2", "1.3"]);

const tls = object(
  {
    handshakeTimeout: span("How long a handshake may take.", { default: "15s" }),
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

const unlimited = Number.MAX_SAFE_INTEGER;

const httpFields = {
  maxBufferSize: integer("Bytes of a body that is buffered.", 1, unlimited, { default: 2_097_152 }),
  http1MaxHeaders: integer("Headers of a request.", 1, 4096, { default: 100 }),
  http1IdleTimeout: span("How long a connection may idle.", { default: "10m" }),
  http2WindowSize: integer("Bytes of a stream's window.", 1, unlimited),
  http2ConnectionWindowSize: integer("Bytes of a connection's window.", 1, unlimited),
  http2FrameSize: integer("Bytes of a frame.", 16_384, 1_677_215, { default: 16_384 }),
  http2KeepaliveInterval: span("Time between pings."),
  http2KeepaliveTimeout: span("How long a ping may stay unanswered."),
};

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
  { required: ["backendRef"] },
);

/** The fields of a GatewayPolicy's `frontend`. */
export const frontendFields = {
  tcp: object({ keepalive }, { atLeastOneOf: ["keepalive"] }),
  tls,
  http: object(httpFields, { atLeastOneOf: Object.keys(httpFields) }),
  accessLog: object({ filter: expression("Which requests are logged."), attributes }),
  tracing: unsupported("tracing", tracing),
};
