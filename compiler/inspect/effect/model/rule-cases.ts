import { type CelPhase, ruleCases } from "../../../cel/compile.ts";
import { parseExpression } from "../../../cel/parse/parse.ts";
import { Problems } from "../../../cel/parse/problems.ts";
import type { Rule } from "../../../model/rules.ts";
import { conditionOf, type RuleCondition } from "../conditions/condition.ts";

/** The part of a rule that is about some items. */
export interface ConditionCase {
  /** The item's kind, when it is about one. */
  readonly present: readonly string[];
  readonly absent: readonly string[];
  readonly condition: RuleCondition;
}

/** A rule as the conditions that it is of items of each kind that it is about. */
export function conditionCases(rule: Rule, phase: CelPhase): readonly ConditionCase[] {
  const whole = (): ConditionCase => {
    const root = parseExpression(rule.text, new Problems());
    if (root === undefined) throw new Error("a rule that was compiled is no expression");
    return { present: [], absent: [], condition: conditionOf(root) };
  };
  if (rule.expression.code.kind === "value") return [whole()];
  const found = ruleCases(rule.text, phase, rule.action);
  if (found.kind !== "cases") return [whole()];
  return found.cases.map(({ situation, node }) => ({
    present: situation?.present ?? [],
    absent: situation?.absent ?? [],
    condition: conditionOf(node),
  }));
}
