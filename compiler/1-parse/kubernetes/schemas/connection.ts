import { AZURE_SCOPE } from "../../../backends/parts/connection-schema.ts";
import { kubernetesHealth } from "../../../backends/parts/health.ts";
import {
  exchangeChecks,
  exchangeFields,
  exchangeTargetSchema,
} from "../../../backends/parts/token-exchange.ts";
import { backendReference, localObject, span, tinyText } from "../../../manifests/field-types.ts";
import { keepAliveFields } from "../../../schema/keep-alive.ts";
import {
  anyText,
  choice,
  type Infer,
  list,
  object,
  shortText,
  text,
  unsupported,
  unsupportedBut,
} from "../../../schema/schema.ts";

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

/** `BackendTLS`. */
export const backendTls = object(
  {
    mtlsCertificateRef: list(localObject("A Secret with tls.key and tls.crt."), {
      maxItems: 1,
      description: "Client certificate of the gateway.",
    }),
    caCertificateRefs: list(localObject("A ConfigMap of CA certificates."), {
      maxItems: 1,
      description: "Trusted certificate authorities, instead of those of the system.",
    }),
    insecureSkipVerify: choice("Checks that are skipped.", ["All", "Hostname"]),
    sni: text("Server name in the TLS handshake (SNI).", {
      maxLength: 253,
      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    }),
    verifySubjectAltNames: list(shortText("A name."), {
      minItems: 1,
      maxItems: 16,
      description: "Accepted names of the certificate, instead of the name of the host.",
    }),
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
        message: '"caCertificateRefs" has no effect with "insecureSkipVerify: All"',
        field: "caCertificateRefs",
        holds: ({ caCertificateRefs, insecureSkipVerify }) =>
          caCertificateRefs === undefined || insecureSkipVerify !== "All",
        cel: "!has(self.caCertificateRefs) || !has(self.insecureSkipVerify) || self.insecureSkipVerify != 'All'",
      },
    ],
  },
);

/** `OAuthTokenExchange`, as in agentgateway's resources. */
export const oauthTokenExchange = object(
  {
    ...exchangeFields((description) => span(`${description} 5m by default.`)),
    path: unsupportedBut("paths with a backendRef", "add it to the url"),
    url: text("The token endpoint.", { format: "url", maxLength: 2048 }),
    backendRef: unsupportedBut("token endpoints by reference", "set its url"),
    grantType: choice("TokenExchange: RFC 8693; JwtBearer: RFC 7523.", [
      ...(["TokenExchange", "JwtBearer"] as const),
    ]),
    subjectToken: object(
      {
        source: unsupportedBut("tokens from other places", "it is read from Authorization"),
        tokenType: tinyText("AccessToken, Jwt, IdToken, or a URI; an access token by default."),
      },
      { description: "The client's token." },
    ),
    requestedTokenType: choice("Type of the requested token.", ["AccessToken", "Jwt", "IdToken"]),
    clientAuth: object(
      {
        clientId: shortText("The gateway's name there."),
        secretRef: localObject("A Secret with the key `clientSecret`."),
        method: choice(
          "How the client authenticates with the secret.",
          ["ClientSecretBasic", "ClientSecretPost"],
          {
            unsupportedValues: { PrivateKeyJwt: "client assertions" },
          },
        ),
        privateKeyJwt: unsupported("client assertions"),
      },
      {
        required: ["clientId", "secretRef"],
        description: "OAuth client that requests the tokens.",
      },
    ),
    location: exchangeTargetSchema(),
  },
  {
    exactlyOneOf: ["url", "backendRef"],
    checks: [...exchangeChecks("JwtBearer")],
    description:
      "Exchanges the client's token for another one at an authorization server (RFC 8693).",
  },
);

const azure = object(
  {
    secretRef: localObject("A Secret with tenantId, clientId and clientSecret: an application."),
    managedIdentity: object(
      {
        clientId: shortText("The id of its client."),
        objectId: shortText("The id of its object."),
        resourceId: text("The id of its resource.", { maxLength: 1024 }),
      },
      {
        atLeastOneOf: ["clientId", "objectId", "resourceId"],
        description:
          "A managed identity of the machine, by one of its ids; the client id has precedence, then the object id.",
      },
    ),
    scope: text("Scope of the token.", { maxLength: 1024, default: AZURE_SCOPE }),
  },
  {
    atMostOneOf: ["secretRef", "managedIdentity"],
    description:
      "Authenticates with a token of Microsoft Entra; by default that of the environment in which the gateway runs.",
  },
);

/** Type of a valid `azure` of `BackendAuth`. */
export type AzureAuthValue = Infer<typeof azure>;

/** `BackendAuth`. */
export const backendAuth = object(
  {
    key: anyText({
      maxLength: 2048,
      isHidden: true,
      description: "The value of the Authorization header.",
    }),
    secretRef: localObject("A Secret with the key `Authorization`."),
    passthrough: object({}, { description: "Forwards the client's own token." }),
    aws: object(
      { secretRef: localObject("A Secret with accessKey and secretKey.") },
      { description: "Signs requests (AWS Signature Version 4)." },
    ),
    gcp: object(
      {
        type: choice("Type of the token.", ["AccessToken", "IdToken"]),
        audience: shortText("The token's audience."),
      },
      {
        description: "Authenticates with a token of the Google Cloud identity of the gateway.",
        checks: [
          {
            message: '"audience" is only valid with type: IdToken',
            field: "audience",
            holds: ({ type, audience }) => audience === undefined || type === "IdToken",
            cel: "!has(self.audience) || (has(self.type) && self.type == 'IdToken')",
          },
        ],
      },
    ),
    azure,
    oauthTokenExchange,
  },
  {
    exactlyOneOf: ["key", "secretRef", "passthrough", "aws", "azure", "gcp", "oauthTokenExchange"],
    description: "How the gateway authenticates to the backend.",
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

/** `BackendSimple`. */
export const simpleBackend = object(simpleFields, { description: "Connection settings." });
