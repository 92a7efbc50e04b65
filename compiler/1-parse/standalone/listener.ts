import {
  choice,
  type Infer,
  integer,
  listOfParts,
  object,
  shortText,
  text,
  unsupported,
} from "../../schema/schema.ts";
import { cipherSuitesSchema, tlsVersionSchema } from "./frontend.ts";
import { listenerPoliciesSchema, policiesElsewhere, routePoliciesSchema } from "./policies.ts";
import { routeSchema } from "./route.ts";
import { fileTcpRouteSchema } from "./tcp-route.ts";

/** A port with its listeners. */
export function bindSchema() {
  return object(
    {
      port: integer("The TCP port.", 1, 65535, { examples: [3000] }),
      address: text(
        "The IP address that the port is open on: `127.0.0.1`, `::`. By default every address of the machine; under `gwc run` " +
          "this machine's own (`127.0.0.1`).",
        { format: "ip" },
      ),
      listeners: listOfParts(listenerSchema(), {
        minItems: 1,
        description: "Who answers on the port, by host name.",
      }),
      tunnelProtocol: choice(
        "Whether proxies say for whom connections are made (PROXY protocol, as `frontendPolicies.proxyProtocol` has it). By default as that says.",
        ["direct", "proxy"],
        {
          unsupportedValues: {
            connect: "CONNECT on a bind",
            hboneWaypoint: "HBONE tunnels",
            hboneGateway: "HBONE tunnels",
          },
        },
      ),
      mode: unsupported("internal binds"),
    },
    { required: ["port", "listeners"], hasParts: true, misplacedFieldHints: policiesElsewhere },
  );
}

/** What becomes of paths. */
export const pathHandlingSchema = choice(
  "What path a backend gets: the one form that routes match and rules see, or, `verbatim`, the one that was sent (object " +
    "stores sign it).",
  ["canonical", "verbatim"],
  { default: "canonical" },
);

/** A listener as the schema lets it through. */
export type ListenerValue = Infer<ReturnType<typeof listenerSchema>>;

function listenerSchema() {
  return object(
    {
      name: shortText("What logs call it."),
      namespace: unsupported("listener namespaces"),
      hostname: shortText(
        "Which host it answers: exact, or with a first label `*`. Every host by default.",
        {
          format: "hostname",
        },
      ),
      protocol: choice(
        "What it speaks. TCP and TLS pass connections on; TLS without a certificate stays between client and backend.",
        ["HTTP", "HTTPS", "TLS", "TCP"],
        { default: "HTTP", unsupportedValues: { HBONE: "HBONE tunnels" } },
      ),
      tls: listenerTlsSchema("TLS that ends here: of an HTTPS or TLS listener."),
      routes: listOfParts(routeSchema(), { description: "What it answers." }),
      tcpRoutes: listOfParts(fileTcpRouteSchema(routePoliciesSchema()), {
        description: "Where connections of a TCP or TLS listener go.",
      }),
      policies: listenerPoliciesSchema(),
      pathHandling: pathHandlingSchema,
    },
    { hasParts: true },
  );
}

/** `tls` as its schema lets it through. */
export type ListenerTlsValue = Infer<ReturnType<typeof listenerTlsSchema>>;

/** `tls` of a listener: TLS that ends at the gateway. */
export function listenerTlsSchema(description: string) {
  return object(
    {
      cert: text(
        "Path of the certificate chain (PEM), read when the gateway starts and when it changes.",
      ),
      key: text("Path of the private key (PEM), read when the gateway starts and when it changes."),
      root: text(
        "Path of the authorities (PEM) that sign client certificates: every client must show one. Read like `cert`.",
      ),
      mode: unsupported("certificates made on the fly"),
      cipherSuites: cipherSuitesSchema(),
      minTLSVersion: tlsVersionSchema("The lowest TLS version. 1.2 by default."),
      maxTLSVersion: tlsVersionSchema("The highest TLS version. 1.3 by default."),
      keyExchangeGroups: unsupported("a choice of key exchange groups"),
      spiffe: unsupported("SPIFFE certificates"),
    },
    { required: ["cert", "key"], description },
  );
}
