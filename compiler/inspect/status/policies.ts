import type { ManifestOf } from "../../manifests/manifests.ts";
import {
  CONTROLLER,
  type Condition,
  conditionFrom,
  falseCondition,
  type Problem,
  trueCondition,
  within,
} from "./conditions.ts";

/** What a policy targets, as its status names it. */
export interface Ancestor {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName?: string;
}

/**
 * The status of a policy, for each of its targets. One with mistakes is not Accepted, and one that acts on nothing is
 * not Attached.
 */
export function policyStatus(
  policy: ManifestOf<"GatewayPolicy">,
  ancestors: readonly Ancestor[],
  problems: readonly Problem[],
): object {
  const ofTargets = [
    ...within(problems, "spec", "targetRefs"),
    ...within(problems, "spec", "targetSelectors"),
  ];
  const conflicts = problems.filter(({ code }) => code === "policy-conflict");
  const idle = problems.filter(({ code }) => code === "policy-without-effect");
  const errors = problems.filter((each) => each.isError && !ofTargets.includes(each));
  const unusable = problems.filter(({ code }) => code === "unusable-entry");
  const accepted =
    unusable.length > 0 && errors.length === 0 && conflicts.length === 0
      ? { ...falseCondition("Accepted", "PartiallyValid", unusable), status: "True" as const }
      : conditionFrom("Accepted", "Valid", ["Invalid", errors], ["Conflicted", conflicts]);
  const named = ancestors.length > 0 ? ancestors : [missing(policy)];
  const all = named.map((ancestorRef, index) => ({
    ancestorRef,
    controllerName: CONTROLLER,
    conditions: [accepted, attached(within(ofTargets, "spec", "targetRefs", index))],
  }));
  if (all.length <= MOST_ANCESTORS) return { ancestors: all };
  const rest = `${all.length - MOST_ANCESTORS + 1} more targets`;
  const summary = {
    ancestorRef: missing(policy),
    controllerName: CONTROLLER,
    conditions: [accepted, trueCondition("StatusSummarized", "StatusSummary", rest)],
  };
  return { ancestors: [...all.slice(0, MOST_ANCESTORS - 1), summary] };

  function attached(own: readonly Problem[]): Condition {
    const wrong = [...own, ...within(ofTargets, "spec", "targetSelectors")];
    return conditionFrom(
      "Attached",
      "Attached",
      ["Pending", wrong],
      ["Pending", errors],
      ["NoEffect", idle],
    );
  }
}

/** Gateway API: a policy's status has at most 16. */
const MOST_ANCESTORS = 16;

/** A policy whose targets can't be named still has a status. */
function missing({ namespace }: ManifestOf<"GatewayPolicy">): Ancestor {
  return { group: "gwc.dev", kind: "GatewayPolicy", namespace, name: "StatusSummary" };
}
