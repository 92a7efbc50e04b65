import { AZURE_SCOPE } from "../../../backends/parts/connection-schema.ts";
import { kubernetesHealth } from "../../../backends/parts/health-manifest-form.ts";
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
  description: "Probes of connections on which nothing is said.",
});

/** `BackendTCP`. */
export const tcpFields = {
  keepalive,
  // No default in the schema: written into a policy it would override what a less specific one says.
  connectTimeout: span("How long a connection, with its TLS handshake, may take; 10s by default.", {
    minimumDuration: "100ms",
  }),
};

/** `BackendHTTP`. */
export const httpFields = {
  version: choice("What is spoken to the backend.", ["HTTP1", "HTTP2"]),
  requestTimeout: span("How long the head of a response may take; 504 then.", {
    minimumDuration: "1ms",
  }),
};

/** `BackendTLS`. */
export const backendTls = object(
  {
    mtlsCertificateRef: list(localObject("A Secret with tls.key and tls.crt."), {
      maxItems: 1,
      description: "The certificate that the gateway shows.",
    }),
    caCertificateRefs: list(localObject("A ConfigMap of CA certificates."), {
      maxItems: 1,
      description: "Whom to trust, in the place of the system's authorities.",
    }),
    insecureSkipVerify: choice("What is not verified.", ["All", "Hostname"]),
    sni: text("The name that is asked for.", {
      maxLength: 253,
      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    }),
    verifySubjectAltNames: list(shortText("A name."), {
      minItems: 1,
      maxItems: 16,
      description: "Names of which the certificate has one, in the place of the host's.",
    }),
    alpnProtocols: list(tinyText("A protocol."), {
      minItems: 1,
      maxItems: 16,
      description: "The protocols that are offered (ALPN).",
    }),
  },
  {
    description: "TLS to the backend.",
    atMostOneOf: ["verifySubjectAltNames", "insecureSkipVerify"],
    checks: [
      {
        message: '"caCertificateRefs" verifies nothing beside "insecureSkipVerify: All"',
        field: "caCertificateRefs",
        holds: ({ caCertificateRefs, insecureSkipVerify }) =>
          caCertificateRefs === undefined || insecureSkipVerify !== "All",
        cel: "!has(self.caCertificateRefs) || !has(self.insecureSkipVerify) || self.insecureSkipVerify != 'All'",
      },
    ],
  },
);

/** `OAuthTokenExchange`, as the reference's resources have it. */
export const oauthTokenExchange = object(
  {
    ...exchangeFields((description) => span(`${description} 5m by default.`)),
    path: unsupportedBut("paths beside a backendRef", "write it into the url"),
    url: text("The token endpoint.", { format: "url", maxLength: 2048 }),
    backendRef: unsupportedBut("token endpoints by a reference", "write its url"),
    grantType: choice("TokenExchange: RFC 8693; JwtBearer: RFC 7523.", [
      ...(["TokenExchange", "JwtBearer"] as const),
    ]),
    subjectToken: object(
      {
        source: unsupportedBut("tokens that stand elsewhere", "it stands in Authorization"),
        tokenType: tinyText("AccessToken, Jwt, IdToken, or a URI; an access token by default."),
      },
      { description: "The client's token." },
    ),
    requestedTokenType: choice("What is asked for.", ["AccessToken", "Jwt", "IdToken"]),
    clientAuth: object(
      {
        clientId: shortText("The gateway's name there."),
        secretRef: localObject("A Secret with the key `clientSecret`."),
        method: choice("How it shows the secret.", ["ClientSecretBasic", "ClientSecretPost"], {
          unsupportedValues: { PrivateKeyJwt: "client assertions" },
        }),
        privateKeyJwt: unsupported("client assertions"),
      },
      { required: ["clientId", "secretRef"], description: "Who asks for the tokens." },
    ),
    location: exchangeTargetSchema(),
  },
  {
    exactlyOneOf: ["url", "backendRef"],
    checks: [...exchangeChecks("JwtBearer")],
    description: "Requests show a token that an authorization server gives for the client's own.",
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
          "An identity that was given to the machine, by one of its ids; the client's counts first, then the object's.",
      },
    ),
    scope: text("What the token is for.", { maxLength: 1024, default: AZURE_SCOPE }),
  },
  {
    atMostOneOf: ["secretRef", "managedIdentity"],
    description:
      "Requests show a token of Microsoft Entra; of whatever the gateway runs as where nothing else is said.",
  },
);

/** `azure` of `BackendAuth` as its schema lets it through. */
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
    passthrough: object({}, { description: "The client's own token goes on." }),
    aws: object(
      { secretRef: localObject("A Secret with accessKey and secretKey.") },
      { description: "Requests are signed (AWS Signature Version 4)." },
    ),
    gcp: object(
      {
        type: choice("Which token is sent.", ["AccessToken", "IdToken"]),
        audience: shortText("The token's audience."),
      },
      {
        description: "Requests show a token of whatever the gateway runs as on Google Cloud.",
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
    description: "What the gateway shows to the backend.",
  },
);

/** `BackendTunnel`: the proxy through which a backend is reached. */
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
      "Reaches the backend through a proxy that opens tunnels (CONNECT), as the policies on the proxy itself say.",
  },
);

/** What is said of servers that requests of clients go to, and of no others. */
export const clientServerFields = { tunnel: backendTunnel, health: kubernetesHealth };

/** The fields that every kind of backend has. */
export const simpleFields = {
  tcp: object(tcpFields, { description: "Connections to the backend." }),
  tls: backendTls,
  http: object(httpFields, { description: "HTTP to the backend." }),
  auth: backendAuth,
};

/** `BackendSimple`. */
export const simpleBackend = object(simpleFields, { description: "How it is reached." });
