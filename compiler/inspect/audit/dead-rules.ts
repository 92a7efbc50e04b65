import type { CelPhase } from "../../cel/compile.ts";
import type { Diagnostics } from "../../diagnostics/diagnostic.ts";
import type { Rule } from "../../model/rules.ts";
import { modelOf } from "../effect/model/open-decision.ts";

/** Reports rules that decide for no request; what could not be worked out is no finding. */
export function reportDeadRules(
  rules: readonly Rule[],
  phase: CelPhase,
  diagnostics: Diagnostics,
): void {
  const deciding = decidingRules(rules, phase);
  if (deciding === undefined) return;
  for (const [index, rule] of rules.entries()) {
    if (deciding.has(index)) continue;
    const isEverTrue = decidingRules([rule], phase)?.has(0) !== false;
    const why = isEverTrue
      ? "the other rules decide whatever it would"
      : "there is no request that it is about";
    diagnostics.report("dead-rule", rule.origin, { rule: rule.expression.source, why });
  }
}

/** The rules that decide for some request, by index; undefined: there may be others. */
function decidingRules(rules: readonly Rule[], phase: CelPhase): ReadonlySet<number> | undefined {
  const model = modelOf(phase, rules);
  if (model?.isComplete !== true) return undefined;
  const texts = model.diagrams.textsIn(model.decision(rules));
  return new Set([...texts].flatMap((text) => ruleIn(text) ?? []));
}

/** The rule of a decision's terminal: `+ 2`. */
function ruleIn(text: string): number | undefined {
  const [, rule] = text.split(" ");
  return rule === undefined ? undefined : Number(rule);
}
