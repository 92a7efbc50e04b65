import { isSamePlace } from "../diagnostics/diagnostic.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import type { PolicyUse } from "./policies.ts";

/** Joins the parts of policies that run at several places in request order. */
export function joinedPolicies(policies: readonly PolicyUse[]): readonly PolicyUse[] {
  return policies.flatMap((use, index) => {
    const isPart = (each: PolicyUse) =>
      each.kind === use.kind && isSamePlace(each.origin, use.origin);
    if (policies.findIndex(isPart) < index) return [];
    const parts = policies.filter(isPart);
    return parts.length === 1 ? [use] : [joinedUse(use, parts)];
  });
}

function joinedUse<Kind extends PolicyKind>(
  use: PolicyUse<Kind>,
  parts: readonly PolicyUse[],
): PolicyUse<Kind> {
  const join = policyOf(use.kind).lowering.joinParts;
  // `as`: they were found by its kind.
  const settings = (parts as readonly PolicyUse<Kind>[]).map((each) => each.settings);
  return join === undefined ? use : { ...use, settings: join(settings) };
}
