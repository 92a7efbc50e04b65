import { type CelPhase, ruleCases } from "../../../cel/compile.ts";
import type { Rule } from "../../../model/rules.ts";
import { conditionIn, conditionOf, type RuleCondition } from "../conditions/condition.ts";
import type { Work } from "../work/work.ts";

/** The part of a rule that is about some items. */
export interface ConditionCase {
  /** The item's kind, when it is about one. */
  readonly present: readonly string[];
  readonly absent: readonly string[];
  readonly condition: RuleCondition;
}

/** A rule as the conditions that it is of items of each kind that it is about. */
export function conditionCases(rule: Rule, phase: CelPhase, work: Work): readonly ConditionCase[] {
  const whole = () => ({ present: [], absent: [], condition: conditionIn(rule.text, work) });
  if (rule.expression.code.kind === "value") return [whole()];
  const found = ruleCases(rule.text, phase, rule.action);
  if (found.kind !== "cases") return [whole()];
  return found.cases.map(({ situation, node }) => ({
    present: situation?.present ?? [],
    absent: situation?.absent ?? [],
    condition: conditionOf(node, work),
  }));
}
