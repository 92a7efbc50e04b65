import { RetryBudget } from "../../policies/retry/retry-budget.ts";
import type { RuleVerdict } from "../../policies/rule-verdict.ts";
import { inGroups } from "./choose-target.ts";
import { type ModelRules, notOpen } from "./model-entries.ts";
import type { ConditionalChoice, LlmTarget } from "./target.ts";

/** A target of a failover. */
export interface RuledTarget {
  /** Absent if everybody may use it. */
  readonly authorize?: ModelRules;
  readonly target: LlmTarget;
}

/**
 * Chooses among groups of targets as `inGroups` does, without those whose rules deny a request. Throws LlmRefusal if the
 * rules of all deny it.
 */
export function inAllowedGroups(groups: readonly (readonly RuledTarget[])[]): ConditionalChoice {
  const budget = new RetryBudget();
  return (model, conditions) => {
    const { request } = conditions;
    let denied: RuleVerdict | undefined;
    const allowed = groups
      .map((group) =>
        group.flatMap(({ authorize, target }) => {
          const verdict = authorize?.(request);
          if (verdict === undefined || verdict.isAllowed) return [target];
          denied ??= verdict;
          return [];
        }),
      )
      .filter((group) => group.length > 0);
    if (allowed.length === 0 && denied !== undefined) throw notOpen(request, model, denied);
    return inGroups(allowed, budget)(model, conditions);
  };
}
