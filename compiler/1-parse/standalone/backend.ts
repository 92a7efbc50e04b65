import { type BackendKind, type BackendValues, backends } from "../../backends/index.ts";
import { serviceReferenceSchema } from "../../backends/parts/service-reference.ts";
import {
  type Infer,
  integer,
  object,
  pick,
  type Schema,
  shortText,
  unsupportedBut,
} from "../../schema/schema.ts";
import { ownPoliciesSchema, serviceBackendPoliciesSchema } from "./backend-policies.ts";

/** Type of a valid backend. */
export type BackendValue = Infer<ReturnType<typeof routeBackendSchema>>;

const HEALTH = "write it under `policies`: policies: { health: {...} }";
const PROTOCOL =
  "for HTTP/2 and gRPC write policies: { http: { version: HTTP2 } }; for TLS begin `host` with https://";

const ADDRESS = "write host: HOST:PORT, or host: https://HOST for TLS";

/** Schema of a backend of a route. */
export function routeBackendSchema() {
  const others = ["service", "backend", "internal", "routeGroup"] as const;
  return object(
    { ...backendFields(), policies: serviceBackendPoliciesSchema() },
    {
      exactlyOneOf: [...backends.map(({ kind }) => kind), ...others],
      hasParts: true,
      misplacedFieldHints: {
        ...{ healthCheck: HEALTH, healthChecks: HEALTH },
        ...{ protocol: PROTOCOL, appProtocol: PROTOCOL, scheme: PROTOCOL, tls: PROTOCOL },
        ...{ url: ADDRESS, address: ADDRESS, server: ADDRESS, port: ADDRESS },
      },
      examples: [{ host: "127.0.0.1:8080" }],
    },
  );
}

function backendFields() {
  return {
    ...kindSchemas(),
    weight: integer(
      "Its share of the requests relative to the other backends; 0 for none.",
      0,
      1_000_000,
      {
        default: 1,
      },
    ),
    policies: ownPoliciesSchema("backend"),
    service: serviceReferenceSchema,
    backend: shortText("Name of one of the file's `backends`.", { refersTo: ["backend"] }),
    internal: unsupportedBut(
      "routes to an admin API",
      "open the admin page of `gwc run`; metrics and readiness are on the ports of STATS_ADDR and READINESS_ADDR",
    ),
    routeGroup: shortText(
      "Name of one of the file's `routeGroups`, whose routes handle the requests of this route with its policies. It must be the only backend.",
      { refersTo: ["routeGroup"] },
    ),
  };
}

/** Returns the schema of each backend kind. */
function kindSchemas(): {
  readonly [Kind in BackendKind]: Schema<BackendValues[Kind]>;
} {
  const schemas = backends.map(({ kind, schema, protocol }) => [
    kind,
    schema(ownPoliciesSchema(protocol === "mcp" ? "target" : "server")),
  ]);
  // The list of backends has every kind, each with its own schema.
  return Object.fromEntries(schemas) as ReturnType<typeof kindSchemas>;
}

/** Type of a valid item of the file's `backends`. */
export type NamedBackendValue = Infer<ReturnType<typeof namedBackendSchema>>;

/** Schema of an item of the file's `backends`. */
export function namedBackendSchema() {
  const later = ["internal"] as const;
  const kinds = [
    ...backends.filter(({ isNameable }) => isNameable === true).map(({ kind }) => kind),
    ...later,
  ];
  return object(
    {
      name: shortText("Name that routes refer to.", { declares: "backend" }),
      ...pick(backendFields(), [...kinds, "policies"]),
    },
    { required: ["name"], exactlyOneOf: kinds, hasParts: true },
  );
}
