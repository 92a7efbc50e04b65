import { type BackendKind, type BackendValues, backends } from "../../backends/index.ts";
import type { BackendPoliciesValue } from "../../backends/parts/policies-schema.ts";
import {
  type Infer,
  integer,
  object,
  pick,
  type Schema,
  shortText,
  unsupported,
} from "../../schema/schema.ts";
import { ownPoliciesSchema, serviceBackendPoliciesSchema } from "./backend-policies.ts";
import { serviceReferenceSchema } from "./services.ts";

/** A backend as the schema lets it through. */
export type BackendValue = Infer<ReturnType<typeof routeBackendSchema>>;

const HEALTH = "it stands under its `policies`: policies: { health: {...} }";

/** Where requests go. */
export function routeBackendSchema() {
  const others = ["service", "backend", "internal", "routeGroup"] as const;
  return object(
    { ...backendFields(), policies: serviceBackendPoliciesSchema() },
    {
      exactlyOneOf: [...backends.map(({ kind }) => kind), ...others],
      hasParts: true,
      misplacedFieldHints: { healthCheck: HEALTH, healthChecks: HEALTH },
      examples: [{ host: "127.0.0.1:8080" }],
    },
  );
}

function backendFields() {
  return {
    ...kindSchemas(ownPoliciesSchema("server")),
    weight: integer("Its share of the requests beside the others; 0: none.", 0, 1_000_000, {
      default: 1,
    }),
    policies: ownPoliciesSchema("backend"),
    service: serviceReferenceSchema(),
    backend: shortText("The name of one of the file's `backends`."),
    internal: unsupported("internal backends"),
    routeGroup: shortText(
      "The name of one of the file's `routeGroups`: its routes answer what this route matches, with what this route says. It stands alone.",
    ),
  };
}

/** The shape of each kind's value. */
function kindSchemas(policies: Schema<BackendPoliciesValue>): {
  readonly [Kind in BackendKind]: Schema<BackendValues[Kind]>;
} {
  const schemas = backends.map(({ kind, schema }) => [kind, schema(policies)]);
  // The list of backends has every kind, each with the shape of its own value.
  return Object.fromEntries(schemas) as ReturnType<typeof kindSchemas>;
}

/** An item of the file's `backends` as the schema lets it through. */
export type NamedBackendValue = Infer<ReturnType<typeof namedBackendSchema>>;

/** An item of the file's `backends`. */
export function namedBackendSchema() {
  const later = ["internal"] as const;
  const kinds = [
    ...backends.filter(({ isNameable }) => isNameable === true).map(({ kind }) => kind),
    ...later,
  ];
  return object(
    { name: shortText("What routes call it."), ...pick(backendFields(), [...kinds, "policies"]) },
    { required: ["name"], exactlyOneOf: kinds, hasParts: true },
  );
}
