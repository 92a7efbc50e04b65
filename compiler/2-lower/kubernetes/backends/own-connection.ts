import type { Manifest } from "../../../manifests/manifests.ts";
import type { PolicyFields } from "../../../manifests/policy.ts";
import type { BackendPolicies } from "../../../model/backend-policies.ts";
import { fieldValues, isJoined } from "../policies/fields.ts";
import { type FieldValue, merge } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { connectionOf } from "./connections.ts";

/** Reads the connection policies of a server that a policy describes with its own fields. */
export function ownConnection(
  fields: PolicyFields,
  at: Pick<FieldValue, "level" | "source" | "origin">,
  gateway: Manifest,
  context: PolicyContext,
): BackendPolicies | undefined {
  const destination = { port: undefined, serverName: undefined, origin: at.origin };
  const values = fieldValues("backend", fields, at);
  return connectionOf(merge(values, isJoined), destination, gateway, context);
}
