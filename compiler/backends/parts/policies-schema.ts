import type { ObjectValue } from "../../schema/schema.ts";
import { llmPoliciesSchema } from "../ai/policies-schema.ts";
import { connectionSchemas } from "./connection-schema.ts";
import { headerChangesSchema } from "./header-changes.ts";
import { serverHealthSchema } from "./health.ts";
import { tunnelSchema } from "./tunnel.ts";

/** Connection policies among a route's `policies`, as validated by the schema. */
export type RouteBackendPoliciesValue = ObjectValue<ReturnType<typeof backendPolicySchemas>, never>;

/** `policies` of a backend or server, as validated by the schema. */
export type BackendPoliciesValue = ObjectValue<ReturnType<typeof ownPolicySchemas>, never>;

/** Returns the schemas of connection policies, on a route, a backend, or a server. */
export function backendPolicySchemas() {
  return {
    ...connectionSchemas(),
    ai: llmPoliciesSchema(),
    health: serverHealthSchema(),
    backendTunnel: tunnelSchema(),
  };
}

/** Returns the schemas of connection policies and header changes of a single backend or server. */
export function ownPolicySchemas() {
  return {
    ...backendPolicySchemas(),
    requestHeaderModifier: headerChangesSchema(
      "Changes to the headers of requests to this backend only, made after those of the route.",
    ),
    responseHeaderModifier: headerChangesSchema(
      "Changes to the headers of this backend's responses only, made before those of the route.",
    ),
  };
}
