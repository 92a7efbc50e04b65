import type { ManifestOf } from "../manifests/manifests.ts";
import {
  CONTROLLER,
  type Condition,
  conditionFrom,
  type Problem,
  partialCondition,
  trueCondition,
  within,
} from "./conditions.ts";

/** Target of a policy, as named in its status. */
export interface Ancestor {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** Results of compiling a policy. */
export interface PolicyFindings {
  readonly problems: readonly Problem[];
  /** Whether at least one of its fields has an effect. */
  readonly isActing: boolean;
  /** Whether a target is a Gateway or ListenerSet without routes. */
  readonly isWaiting: (ancestor: Ancestor) => boolean;
}

/**
 * Returns the status of a policy for each of its targets. An invalid policy is not Accepted; one without effect is not
 * Attached.
 */
export function policyStatus(
  policy: ManifestOf<"GatewayPolicy">,
  ancestors: readonly Ancestor[],
  { problems, isActing, isWaiting }: PolicyFindings,
): object {
  const ofTargets = [
    ...within(problems, "spec", "targetRefs"),
    ...within(problems, "spec", "targetSelectors"),
  ];
  const conflicts = problems.filter(({ code }) => code === "policy-conflict");
  const idle = problems.filter(({ code }) => code === "policy-without-effect");
  const wrong = problems.filter((each) => each.isError && !ofTargets.includes(each));
  const unresolved = wrong.filter(({ code }) => UNRESOLVED.has(code));
  const errors = wrong.filter((each) => !unresolved.includes(each));
  const unusable = problems.filter(({ code, isTolerated }) => isTolerated || UNUSABLE.has(code));
  // A policy all of whose fields lost to others is Conflicted; otherwise its remaining fields apply.
  const partial =
    conflicts.length > 0 && !isActing ? [] : [...unresolved, ...unusable, ...conflicts];
  const accepted =
    partial.length > 0 && errors.length === 0
      ? partialCondition("Accepted", "PartiallyValid", partial)
      : conditionFrom("Accepted", "Valid", ["Invalid", errors], ["Conflicted", conflicts]);
  const named = ancestors.length > 0 ? ancestors : [missing(policy)];
  const all = named.map((ancestorRef, index) => ({
    ancestorRef,
    controllerName: CONTROLLER,
    conditions: [accepted, attached(ancestorRef, within(ofTargets, "spec", "targetRefs", index))],
  }));
  if (all.length <= MAX_ANCESTORS) return { ancestors: all };
  const rest = `${all.length - MAX_ANCESTORS + 1} more targets`;
  const summary = {
    ancestorRef: missing(policy),
    controllerName: CONTROLLER,
    conditions: [accepted, trueCondition("StatusSummarized", "StatusSummary", rest)],
  };
  return { ancestors: [...all.slice(0, MAX_ANCESTORS - 1), summary] };

  function attached(ancestor: Ancestor, own: readonly Problem[]): Condition {
    const missing = [...own, ...within(ofTargets, "spec", "targetSelectors")];
    // Before the first route is created, a Gateway's policy has no effect, which is not a problem.
    const isIdle = idle.some(({ path }) => path.length === 1) && !isWaiting(ancestor);
    if (missing.length + errors.length === 0 && idle.length > 0 && !isIdle)
      return partialCondition("Attached", "Attached", idle);
    return conditionFrom(
      "Attached",
      "Attached",
      ["Pending", missing],
      ["Pending", errors],
      ["NoEffect", idle],
    );
  }
}

/** Mistakes in entries of Secrets without which a policy still acts. */
const UNUSABLE: ReadonlySet<string> = new Set(["unusable-entry", "unusable-entries"]);

/** Mistakes of what a policy refers to. The policy is valid, and requests that need the reference are refused. */
const UNRESOLVED: ReadonlySet<string> = new Set([
  ...["missing-reference", "missing-secret", "missing-key", "reference-not-permitted"],
]);

/** Maximum number of ancestors in a policy's status (Gateway API). */
const MAX_ANCESTORS = 16;

/** Returns a placeholder for the status of a policy without usable targets. */
function missing({ namespace }: ManifestOf<"GatewayPolicy">): Ancestor {
  return { group: "gwc.dev", kind: "GatewayPolicy", namespace, name: "StatusSummary" };
}
