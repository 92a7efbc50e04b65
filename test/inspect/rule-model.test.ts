import { describe, expect, it } from "vitest";
import type { RequestData } from "../../compiler/inspect/effect/data/request-data.ts";
import { requestReadings } from "../../compiler/inspect/effect/data/request-readings.ts";
import { decisionText, RuleModel } from "../../compiler/inspect/effect/model/rule-model.ts";
import { runRules } from "../../compiler/inspect/effect/rules/run-rules.ts";
import { TooMuchWork } from "../../compiler/inspect/effect/work/work.ts";
import type { Rule } from "../../compiler/model/rules.ts";
import { RandomSource, type RulePhase, randomRequest, randomRules } from "./random-rules.ts";

/** Sets of rules for each phase. */
const SETS = process.env.GWC_LONG_TESTS === "1" ? 500 : 40;
const REQUESTS = 200;

/** The model of rules and what it decides; undefined for rules that are too much for it. */
function decided(phase: RulePhase, rules: readonly Rule[]) {
  try {
    const model = new RuleModel(phase, rules);
    return { model, decision: model.decision(rules) };
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
}

/** Returns the decision of the model for a request: that of the first refused reading, or of the last one. */
function computedFor(
  model: RuleModel,
  decision: ReturnType<RuleModel["decision"]>,
  rules: readonly Rule[],
  data: RequestData,
): string {
  const readings = requestReadings(
    data,
    rules.map(({ expression }) => expression),
  );
  let computed = decisionText(false, undefined);
  for (const reading of readings ?? []) {
    computed = model.diagrams.textFor(decision, (level) => model.classOf(level, reading));
    if (!computed.startsWith("+")) break;
  }
  return computed;
}

describe("what rules decide, computed", () => {
  it.each(["request", "mcp"] as const)(
    "is what the compiled rules decide, by the same rule, for random rules of %s and random requests",
    (phase) => {
      const wrong: unknown[] = [];
      let tooLarge = 0;
      for (let seed = 1; seed <= SETS; seed += 1) {
        const random = new RandomSource(seed * 7919 + phase.length);
        const rules = randomRules(random, phase);
        const found = decided(phase, rules);
        if (found === undefined) {
          tooLarge += 1;
          continue;
        }
        const { model, decision } = found;
        for (let count = 0; count < REQUESTS; count += 1) {
          const data = randomRequest(random, phase);
          const { isAllowed, rule } = runRules(rules, data);
          const computed = computedFor(model, decision, rules, data);
          if (computed === decisionText(isAllowed, rule)) continue;
          const texts = rules.map(({ action, text }) => `${action}: ${text}`);
          wrong.push({ seed, computed, run: decisionText(isAllowed, rule), data, texts });
        }
      }
      expect(wrong.slice(0, 2)).toEqual([]);
      expect(tooLarge).toBeLessThan(SETS / 50);
    },
    1_200_000,
  );
});
