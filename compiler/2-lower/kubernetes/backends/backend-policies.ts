import { kubernetesHealth, readKubernetesHealth } from "../../../backends/parts/health.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import type { BackendPolicies } from "../../../model/backend-policies.ts";
import { validated } from "../../../schema/schema.ts";
import type { EffectiveField } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { type ConnectionDestination, connectionOf } from "./connections.ts";
import { llmPolicies } from "./llm-policies.ts";
import { tunnelOf } from "./servers.ts";

/** Reads the connection and LLM policies of a backend from its effective fields. */
export function backendPoliciesOf(
  fields: readonly EffectiveField[],
  destination: ConnectionDestination,
  gateway: Manifest,
  context: PolicyContext,
): BackendPolicies | undefined {
  const given = (name: string) =>
    fields.find(({ field }) => field === `backend.${name}`)?.values.at(-1);
  const connection = connectionOf(fields, destination, gateway, context);
  const ai = llmPolicies(fields, gateway, context);
  const health = given("health");
  const tunnel = tunnelOf(fields, gateway, context);
  const policies: BackendPolicies = {
    ...connection,
    ...(ai && { ai }),
    ...(health && {
      health: readKubernetesHealth(validated(kubernetesHealth, health.value), health.origin),
    }),
    ...(tunnel && { tunnel }),
  };
  return Object.keys(policies).length === 0 ? undefined : policies;
}
