import { ownPolicySchemas } from "../../backends/parts/policies-schema.ts";
import { policies } from "../../policies/index.ts";
import { object, unsupported } from "../../schema/schema.ts";

/** `policies` of a backend or an MCP target. */
export function ownPoliciesSchema() {
  const planned = policies.flatMap(({ kind, isPlannedOnBackend }) =>
    isPlannedOnBackend === true ? [kind] : [],
  );
  const later = [...planned, ...UNSUPPORTED].map((key) => [
    key,
    unsupported(`${key} on a backend`),
  ]);
  return object(
    { ...ownPolicySchemas(), ...Object.fromEntries(later) },
    { hasParts: true, description: "How this backend is reached; over what the route says." },
  );
}

/** What the specification has on a backend and no policy is yet. */
const UNSUPPORTED: readonly string[] = [
  ...["extAuthz", "mcpGuardrails", "a2a", "inferenceRouting", "sessionAffinity"],
];
