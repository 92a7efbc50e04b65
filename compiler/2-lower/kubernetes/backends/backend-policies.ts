import type { Manifest } from "../../../manifests/manifests.ts";
import type { BackendPolicies } from "../../../model/backend-policies.ts";
import type { EffectiveField } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { type ConnectionDestination, connectionOf } from "./connections.ts";
import { llmPolicies } from "./llm-policies.ts";

/** How a backend is reached, and what becomes of requests to its models, as the effective fields say. */
export function backendPoliciesOf(
  fields: readonly EffectiveField[],
  destination: ConnectionDestination,
  gateway: Manifest,
  context: PolicyContext,
): BackendPolicies | undefined {
  const connection = connectionOf(fields, destination, gateway, context);
  const ai = llmPolicies(fields, gateway, context);
  return ai === undefined ? connection : { ...connection, ai };
}
