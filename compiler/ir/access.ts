import type { AccessCheck } from "../model/access.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import type { PolicyUse } from "./policies.ts";

/** What a policy decides about access. */
export function accessOf<Kind extends PolicyKind>(use: PolicyUse<Kind>): readonly AccessCheck[] {
  return policyOf(use.kind).access?.(use.settings) ?? [];
}
