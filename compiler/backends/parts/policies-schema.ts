import type { ObjectValue } from "../../schema/schema.ts";
import { llmPoliciesSchema } from "../ai/policies-schema.ts";
import { connectionSchemas } from "./connection-schema.ts";
import { headerChangesSchema } from "./header-changes.ts";
import { serverHealthSchema } from "./health.ts";
import { tunnelSchema } from "./tunnel.ts";

/** The parts of a route's `policies` that say how its backends are reached, as the schema lets them through. */
export type RouteBackendPoliciesValue = ObjectValue<ReturnType<typeof backendPolicySchemas>, never>;

/** `policies` of one backend or server, as the schema lets them through. */
export type BackendPoliciesValue = ObjectValue<ReturnType<typeof ownPolicySchemas>, never>;

/** The keys of `policies` that say how a backend is reached: on a route, a backend, or a server of one. */
export function backendPolicySchemas() {
  return {
    ...connectionSchemas(),
    ai: llmPoliciesSchema(),
    health: serverHealthSchema(),
    backendTunnel: tunnelSchema(),
  };
}

/** The same of one backend or server, and what is changed of the messages that it alone gets and gives. */
export function ownPolicySchemas() {
  return {
    ...backendPolicySchemas(),
    requestHeaderModifier: headerChangesSchema(
      "Changes to the headers of requests to this backend alone, after those that its route makes.",
    ),
    responseHeaderModifier: headerChangesSchema(
      "Changes to the headers of this backend's responses alone, before those that its route makes.",
    ),
  };
}
