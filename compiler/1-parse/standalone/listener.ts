import { cipherSuites, keyExchangeGroups } from "../../config/frontend-fields.ts";
import { hintFor } from "../../schema/hint-for.ts";
import { HBONE_INSTEAD, TUNNELS_INSTEAD } from "../../schema/refused-features.ts";
import {
  choice,
  type Infer,
  ignored,
  integer,
  listOfParts,
  object,
  shortText,
  text,
} from "../../schema/schema.ts";
import { acmeUseSchema } from "./acme.ts";
import { tlsVersionSchema } from "./frontend.ts";
import { listenerPoliciesSchema, policiesElsewhere, routePoliciesSchema } from "./policies.ts";
import { routeSchema } from "./route.ts";
import { fileTcpRouteSchema } from "./tcp-route.ts";

/** Schema of a port with its listeners. */
export function bindSchema() {
  return object(
    {
      port: integer("The TCP port.", 1, 65535, { examples: [3000] }),
      address: addressSchema(),
      listeners: listOfParts(listenerSchema(), {
        minItems: 1,
        description: "Listeners of the port, by hostname.",
      }),
      tunnelProtocol: tunnelProtocolSchema(),
      mode: choice("`standard`: clients connect to the port.", ["standard"], {
        default: "standard",
        unsupportedValues: { internal: "ports that only decrypted tunnels reach" },
        misplacedFieldHints: { internal: TUNNELS_INSTEAD },
      }),
    },
    { required: ["port", "listeners"], hasParts: true, misplacedFieldHints: policiesElsewhere },
  );
}

/** Schema of the address of a port. */
export function addressSchema() {
  return text(
    "IP address that the port is bound to: `127.0.0.1`, `::`. By default all addresses of the machine; with `gwc run`, " +
      "`127.0.0.1`.",
    { format: "ip" },
  );
}

/** Schema of `tunnelProtocol` of a port. */
export function tunnelProtocolSchema() {
  return choice(
    "Whether connections use the PROXY protocol, with the settings of `frontendPolicies.proxyProtocol`. By default as configured there.",
    ["direct", "proxy"],
    {
      unsupportedValues: {
        connect: "CONNECT on a bind",
        hboneWaypoint: "HBONE tunnels",
        hboneGateway: "HBONE tunnels",
      },
      misplacedFieldHints: {
        connect: TUNNELS_INSTEAD,
        hboneWaypoint: HBONE_INSTEAD,
        hboneGateway: HBONE_INSTEAD,
      },
    },
  );
}

const GRPC_INSTEAD = "write HTTP or HTTPS: both serve gRPC";

/** Words for other protocols in `protocol` of a listener or gateway. */
export const OTHER_PROTOCOLS = hintFor(GRPC_INSTEAD, ["GRPC", "gRPC", "grpc", "HTTP2", "H2C"]);

/** Schema of the hostname of a listener. */
export function hostnameSchema() {
  return shortText(
    "Hostname that it serves: exact, or with `*` as its first label. All hosts by default.",
    { format: "hostname" },
  );
}

/** Schema of the handling of request paths. */
export const pathHandlingSchema = choice(
  "Path that backends receive: the normalized one, which routes and rules see, or with `verbatim` the one as sent (object " +
    "stores sign it).",
  ["canonical", "verbatim"],
  { default: "canonical" },
);

/** Type of a valid listener. */
export type ListenerValue = Infer<ReturnType<typeof listenerSchema>>;

function listenerSchema() {
  return object(
    {
      name: shortText("Name in logs."),
      namespace: ignored("a file has no namespaces", "remove it"),
      hostname: hostnameSchema(),
      protocol: choice(
        "Protocol. TCP and TLS forward connections; without a certificate, TLS is passed through to the backend.",
        ["HTTP", "HTTPS", "TLS", "TCP"],
        {
          default: "HTTP",
          unsupportedValues: { HBONE: "HBONE tunnels" },
          misplacedFieldHints: { HBONE: HBONE_INSTEAD, ...OTHER_PROTOCOLS },
        },
      ),
      tls: listenerTlsSchema("Terminates TLS, for an HTTPS or TLS listener."),
      routes: listOfParts(routeSchema(), { description: "Routes for requests." }),
      tcpRoutes: listOfParts(fileTcpRouteSchema(routePoliciesSchema()), {
        description: "Routes for connections of a TCP or TLS listener.",
      }),
      policies: listenerPoliciesSchema(),
      pathHandling: pathHandlingSchema,
    },
    { hasParts: true },
  );
}

/** Type of a valid `tls`. */
export type ListenerTlsValue = Infer<ReturnType<typeof listenerTlsSchema>>;

/** Schema of `tls` of a listener, which terminates TLS. */
export function listenerTlsSchema(description: string) {
  return object(
    {
      cert: text(
        "Path of the certificate chain (PEM), read when the gateway starts and when it changes.",
      ),
      key: text("Path of the private key (PEM), read when the gateway starts and when it changes."),
      root: text(
        "Path of the certificate authorities (PEM) for client certificates, which are then required. Read like `cert`.",
      ),
      mode: choice("`static`: the certificate is in `cert` and `key`.", ["static"], {
        default: "static",
        unsupportedValues: { dynamicCa: "certificates that are signed on demand" },
        misplacedFieldHints: {
          passthrough:
            "remove `tls`: protocol TLS without a certificate passes connections through",
          dynamicCa: "write `cert` and `key` of the names that clients use",
        },
      }),
      cipherSuites: cipherSuites.file,
      minTLSVersion: tlsVersionSchema("Minimum TLS version. 1.2 by default."),
      maxTLSVersion: tlsVersionSchema("Maximum TLS version. 1.3 by default."),
      minTlsVersion: { ...tlsVersionSchema("Minimum TLS version."), aliasOf: "minTLSVersion" },
      maxTlsVersion: { ...tlsVersionSchema("Maximum TLS version."), aliasOf: "maxTLSVersion" },
      keyExchangeGroups: keyExchangeGroups.file,
      acme: acmeUseSchema(),
      spiffe: object(
        {},
        {
          description:
            "Serves the gateway's identity of the SPIFFE Workload API (`config.spiffe`). Clients must be workloads of its trust domain.",
        },
      ),
    },
    {
      exactlyOneOf: ["cert", "acme", "spiffe"],
      misplacedFieldHints: hintFor(
        "write root: clients.pem, the authorities of client certificates",
        [...["ca", "clientCA", "clientCa", "clientAuth", "clientCert", "mtls", "verifyClient"]],
      ),
      description,
      examples: [{ cert: "tls/cert.pem", key: "tls/key.pem" }],
      checks: [
        {
          message: '"cert" and "key" require each other',
          holds: ({ cert, key }) => (cert === undefined) === (key === undefined),
          cel: "has(self.cert) == has(self.key)",
        },
        {
          message:
            '"minTlsVersion" and "maxTlsVersion" are other names of "minTLSVersion" and "maxTLSVersion"',
          holds: (value) =>
            (value.minTLSVersion === undefined || value.minTlsVersion === undefined) &&
            (value.maxTLSVersion === undefined || value.maxTlsVersion === undefined),
          cel: "!(has(self.minTLSVersion) && has(self.minTlsVersion)) && !(has(self.maxTLSVersion) && has(self.maxTlsVersion))",
        },
        {
          message: '"root" has no effect with "spiffe"',
          field: "root",
          holds: ({ root, spiffe }) => root === undefined || spiffe === undefined,
          cel: "!has(self.root) || !has(self.spiffe)",
        },
      ],
    },
  );
}
