import type { CelPhase } from "../../cel/compile.ts";
import type { Diagnostics } from "../../diagnostics/diagnostic.ts";
import type { Rule } from "../../model/rules.ts";
import { RuleModel } from "../effect/model/rule-model.ts";
import { type Work, withinSteps } from "../effect/work/work.ts";

/** Reports rules that decide for no request; what could not be worked out with the steps that are left is no finding. */
export function reportDeadRules(
  rules: readonly Rule[],
  phase: CelPhase,
  diagnostics: Diagnostics,
  work: Work,
): void {
  const deciding = decidingRules(rules, phase, work);
  if (deciding === undefined) return;
  for (const [index, rule] of rules.entries()) {
    if (deciding.has(index)) continue;
    const isEverTrue = decidingRules([rule], phase, work)?.has(0) !== false;
    const why = isEverTrue
      ? "the other rules decide whatever it would"
      : "there is no request that it is about";
    diagnostics.report("dead-rule", rule.origin, { rule: rule.expression.source, why });
  }
}

/** The rules that decide for some request, by index; undefined: there may be others. */
function decidingRules(
  rules: readonly Rule[],
  phase: CelPhase,
  work: Work,
): ReadonlySet<number> | undefined {
  return withinSteps(() => {
    const model = new RuleModel(phase, rules, [], [], work.question());
    if (!model.isComplete) return undefined;
    const texts = model.diagrams.textsIn(model.decision(rules));
    return new Set([...texts].flatMap((text) => ruleIn(text) ?? []));
  });
}

/** The rule of a decision's terminal: `+ 2`. */
function ruleIn(text: string): number | undefined {
  const [, rule] = text.split(" ");
  return rule === undefined ? undefined : Number(rule);
}
