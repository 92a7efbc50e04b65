import { type ObjectValue, unsupported } from "../../schema/schema.ts";
import { healthSchema } from "../ai/health.ts";
import { llmPoliciesSchema } from "../ai/policies-schema.ts";
import { connectionSchemas } from "./connection-schema.ts";

/** The parts of `policies` that say how a backend is reached, as the schema lets them through. */
export type BackendPoliciesValue = ObjectValue<ReturnType<typeof backendPolicySchemas>, never>;

/** The keys of `policies` that say how a backend is reached: on a route, a backend, or an MCP target. */
export function backendPolicySchemas() {
  return {
    ...connectionSchemas(),
    ai: llmPoliciesSchema(),
    health: healthSchema(),
    backendTunnel: unsupported("tunnels to backends"),
  };
}
