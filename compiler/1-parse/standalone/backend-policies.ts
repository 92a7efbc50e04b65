import { pickerSchemas } from "../../backends/inference-pool/picking.ts";
import { ownPolicySchemas } from "../../backends/parts/policies-schema.ts";
import { policies } from "../../policies/index.ts";
import { object, type Schema, unsupported } from "../../schema/schema.ts";

/** Schema of `policies` of a backend, or of one of its servers, such as an MCP target. */
export function ownPoliciesSchema(place: "backend" | "server") {
  return object(ownFields(place), WORDS);
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

function ownFields(place: "backend" | "server") {
  const built = policies.filter(({ onBackend }) => place === "backend" && onBackend !== undefined);
  const own = built.flatMap(({ kind, aliases = [], onBackend }) =>
    [kind, ...aliases.map(([key]) => key)].map((key) => [key, onBackend?.schema] as const),
  );
  const later = (key: string): Schema<never> => unsupported(`${key} on a ${place}`);
  const planned = policies.flatMap(({ kind, plannedOnBackend: plan, onBackend }) =>
    plan === undefined && onBackend === undefined
      ? []
      : [[kind, { ...later(kind), ...plan }] as const],
  );
  const others = UNSUPPORTED.map((key) => [key, later(key)] as const);
  return {
    ...ownPolicySchemas(),
    ...Object.fromEntries([...planned, ...others]),
    ...Object.fromEntries(own),
  };
}

/** Fields of backends in the specification that no policy supports yet. */
const UNSUPPORTED: readonly string[] = [
  ...["extAuthz", "mcpGuardrails", "a2a", "inferenceRouting", "sessionAffinity"],
];
