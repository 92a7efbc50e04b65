import { pickerSchemas } from "../../backends/inference-pool/picking.ts";
import { ownPolicySchemas } from "../../backends/parts/policies-schema.ts";
import { policies } from "../../policies/index.ts";
import { object, orEmpty, type Schema, unsupportedBut } from "../../schema/schema.ts";

/** A place of `policies`: a backend, one of its servers, or a server of MCP. */
type PolicyPlace = "backend" | "server" | "target";

/** Schema of `policies` of a backend or of one of its servers. */
export function ownPoliciesSchema(place: PolicyPlace) {
  return orEmpty(object(ownFields(place), WORDS));
}

/** Schema of `policies` of a backend that may be a service. */
export function serviceBackendPoliciesSchema() {
  const inferenceRouting = object(pickerSchemas(), {
    required: ["endpointPicker"],
    description: "Endpoint picker that selects a server of this `service` for each request.",
  });
  return object({ ...ownFields("backend"), inferenceRouting }, WORDS);
}

/** Description of the policies of one backend of a route. */
export const OWN_CONNECTION =
  "Connection settings of this backend, which override those of the route.";

const WORDS = {
  hasParts: true,
  description: OWN_CONNECTION,
} as const;

function ownFields(place: PolicyPlace) {
  const built = policies.filter(({ onBackend }) => place === "backend" && onBackend !== undefined);
  const own = built.flatMap(({ kind, aliases = [], onBackend }) =>
    [kind, ...aliases.map(([key]) => key)].map((key) => [key, onBackend?.schema] as const),
  );
  const later = (key: string): Schema<never> =>
    unsupportedBut(`${key} on a ${place}`, "write it in the policies of the route");
  const planned = policies.flatMap(({ kind, plannedOnBackend: plan, onBackend }) =>
    plan === undefined && onBackend === undefined
      ? []
      : [[kind, { ...later(kind), ...plan }] as const],
  );
  const ofTarget = policies.flatMap(({ kind, schema, kubernetes }) =>
    place === "target" && kubernetes?.perTarget !== undefined ? [[kind, schema] as const] : [],
  );
  const others = UNSUPPORTED.map((key) => [key, later(key)] as const);
  return {
    ...ownPolicySchemas(),
    ...Object.fromEntries([...planned, ...others]),
    ...Object.fromEntries([...own, ...ofTarget]),
  };
}

/** Fields of backends in the specification that no policy supports yet. */
const UNSUPPORTED: readonly string[] = ["a2a", "inferenceRouting", "sessionAffinity"];
