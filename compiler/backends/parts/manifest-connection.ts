import {
  backendReference,
  localObject,
  secretEntry,
  span,
  tinyText,
} from "../../manifests/field-types.ts";
import { keepAliveFields } from "../../schema/keep-alive.ts";
import { keyExchangeSchemas } from "../../schema/key-exchange.ts";
import { choice, list, object, pick, shortText, text } from "../../schema/schema.ts";
import { kubernetesHealth } from "./health.ts";
import { backendAuth } from "./manifest-auth.ts";

/** `Keepalive` of a TCP connection. */
export const keepalive = object(keepAliveFields(span), {
  description: "TCP keepalive probes on idle connections.",
});

/** `BackendTCP`. */
export const tcpFields = {
  keepalive,
  // No default in the schema: an API server would write it into a policy, where it would override a less specific
  // policy.
  connectTimeout: span(
    "Maximum duration of connecting, including the TLS handshake; 10s by default.",
    {
      minimumDuration: "100ms",
    },
  ),
};

/** `BackendHTTP`. */
export const httpFields = {
  version: choice("HTTP version of requests to the backend.", ["HTTP1", "HTTP2"]),
  requestTimeout: span(
    "Maximum time until the head of the response arrives; then the request is answered with 504.",
    {
      minimumDuration: "1ms",
    },
  ),
};

/** Fields of TLS that an identity replaces. */
const IN_IDENTITY = [
  ...(["mtlsCertificateRef", "caCertificateRefs", "insecureSkipVerify"] as const),
  "keyExchangeGroups",
] as const;

/** `BackendTLS`. */
export const backendTls = object(
  {
    mtlsCertificateRef: list(localObject("Secret", "A Secret with tls.key and tls.crt."), {
      maxItems: 1,
      description: "Client certificate of the gateway.",
    }),
    caCertificateRefs: list(localObject("ConfigMap", "A ConfigMap of CA certificates."), {
      maxItems: 1,
      description: "Trusted certificate authorities, instead of those of the system.",
    }),
    insecureSkipVerify: choice("Checks that are skipped.", ["All", "Hostname"]),
    sni: text("Server name in the TLS handshake (SNI).", {
      maxLength: 253,
      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    }),
    certificateSource: choice(
      "Source of the gateway's certificate and of the trusted authorities: the fields here, or its identity of the SPIFFE " +
        "Workload API (`spiffe` of its parameters), which accepts workloads of its trust domain.",
      ["Inline", "SPIFFE"],
      { default: "Inline" },
    ),
    verifySubjectAltNames: list(shortText("A name."), {
      minItems: 1,
      maxItems: 16,
      description: "Accepted names of the certificate, instead of the name of the host.",
    }),
    keyExchangeGroups: keyExchangeSchemas("the gateway offers").manifest,
    alpnProtocols: list(tinyText("A protocol."), {
      minItems: 1,
      maxItems: 16,
      description: "Offered protocols (ALPN).",
    }),
  },
  {
    description: "TLS to the backend.",
    atMostOneOf: ["verifySubjectAltNames", "insecureSkipVerify"],
    checks: [
      {
        message: `"certificateSource: SPIFFE" excludes ${IN_IDENTITY.map((field) => `"${field}"`).join(", ")}`,
        field: "certificateSource",
        holds: (value) =>
          value.certificateSource !== "SPIFFE" ||
          IN_IDENTITY.every((field) => value[field] === undefined),
        cel: `!has(self.certificateSource) || self.certificateSource != 'SPIFFE' || !(${IN_IDENTITY.map((field) => `has(self.${field})`).join(" || ")})`,
      },
      {
        message: '"caCertificateRefs" has no effect with "insecureSkipVerify: All"',
        field: "caCertificateRefs",
        holds: ({ caCertificateRefs, insecureSkipVerify }) =>
          caCertificateRefs === undefined || insecureSkipVerify !== "All",
        cel: "!has(self.caCertificateRefs) || !has(self.insecureSkipVerify) || self.insecureSkipVerify != 'All'",
      },
    ],
  },
);

/** `BackendTunnel`: the proxy through which the gateway connects to a backend. */
export const backendTunnel = object(
  {
    backendRef: backendReference("The proxy: a Service or a static GatewayBackend."),
    url: text("The proxy by its URL, without a path.", {
      maxLength: 1024,
      pattern: "^https?://[^/?#@]+/?$",
      form: "a URL of a proxy, without a path",
    }),
  },
  {
    exactlyOneOf: ["backendRef", "url"],
    description:
      "Connects to the backend through a proxy (CONNECT), with the policies of the proxy itself.",
  },
);

/** Settings of servers that receive client requests, and of no other servers. */
export const clientServerFields = { tunnel: backendTunnel, health: kubernetesHealth };

/** Fields of every kind of backend. */
export const simpleFields = {
  tcp: object(tcpFields, { description: "TCP settings of connections to the backend." }),
  tls: backendTls,
  http: object(httpFields, { description: "HTTP settings of the backend." }),
  auth: backendAuth,
};

/** The part of `BackendSimple` for known services: a key, and the time that they may take. */
export const keyedBackend = object(
  {
    auth: object(
      { secretRef: secretEntry("A Secret with the credential.", "Authorization") },
      { required: ["secretRef"], description: "How the gateway authenticates to the service." },
    ),
    http: object(pick(httpFields, ["requestTimeout"]), {
      minProperties: 1,
      description: "HTTP settings of the service.",
    }),
  },
  { minProperties: 1, description: "Connection settings." },
);

/** `BackendSimple`. */
export const simpleBackend = object(simpleFields, { description: "Connection settings." });
