import { ownPolicySchemas } from "../../backends/parts/policies-schema.ts";
import { policies } from "../../policies/index.ts";
import { object, unsupported } from "../../schema/schema.ts";

/** `policies` of a backend, or of one of its servers, such as an MCP target. */
export function ownPoliciesSchema(place: "backend" | "server") {
  const built = policies.filter(({ onBackend }) => place === "backend" && onBackend !== undefined);
  const own = built.flatMap(({ kind, aliases = [], onBackend }) =>
    [kind, ...aliases.map(([key]) => key)].map((key) => [key, onBackend?.schema] as const),
  );
  const planned = policies.flatMap(({ kind, isPlannedOnBackend, onBackend }) =>
    isPlannedOnBackend === true || onBackend !== undefined ? [kind] : [],
  );
  const later = [...planned, ...UNSUPPORTED].map(
    (key) => [key, unsupported(`${key} on a ${place}`)] as const,
  );
  return object(
    { ...ownPolicySchemas(), ...Object.fromEntries(later), ...Object.fromEntries(own) },
    { hasParts: true, description: "How this backend is reached; over what the route says." },
  );
}

/** What the specification has on a backend and no policy is yet. */
const UNSUPPORTED: readonly string[] = [
  ...["extAuthz", "mcpGuardrails", "a2a", "inferenceRouting", "sessionAffinity"],
];
