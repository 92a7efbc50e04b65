import { describe, expect, it } from "vitest";
import type { RequestData } from "../../compiler/inspect/effect/data/request-data.ts";
import { openDecision } from "../../compiler/inspect/effect/model/open-decision.ts";
import { runCondition, runRules } from "../../compiler/inspect/effect/rules/run-rules.ts";
import { termExpression } from "../../compiler/inspect/effect/words/in-words.ts";
import { RandomSource, randomRequest, randomRules } from "./random-rules.ts";

const SETS = process.env.GWC_LONG_TESTS === "1" ? 1_700 : 60;

/** Parts of a request that may stay undecided. */
const PARTS = ["jwt", "apiKey", "source", "request"] as const;

describe("a decision on a request of which a part is open", () => {
  it("holds for every such request, and its conditions say for which of them they allow", () => {
    const wrong: unknown[] = [];
    const counts = { decided: 0, depends: 0, undecided: 0, longer: 0 };
    for (let seed = 1; seed <= SETS; seed += 1) {
      const random = new RandomSource(seed * 104729);
      const rules = randomRules(random, "mcp");
      const texts = rules.map(({ action, text }) => `${action}: ${text}`);
      const data = randomRequest(random, "mcp");
      const part = random.pick(PARTS);
      const found = openDecision(rules, "mcp", { data, open: [[part]], present: [] });
      counts[found.kind] += 1;
      for (let count = 0; count < 60; count += 1) {
        const filled: RequestData = { ...data, [part]: randomRequest(random, "mcp")[part] };
        const { isAllowed } = runRules(rules, filled);
        if (found.kind === "decided" && found.isAllowed !== isAllowed)
          wrong.push({ seed, texts, filled, isAllowed });
        if (found.kind !== "depends") continue;
        if (!found.allows.isComplete) {
          counts.longer += 1;
          break;
        }
        const fits = found.allows.terms.some(
          (term) => runCondition(termExpression(term), "mcp", filled) === "true",
        );
        if (fits !== isAllowed)
          wrong.push({ seed, texts, filled, isAllowed, terms: found.allows.terms });
      }
    }
    expect(wrong.slice(0, 2)).toEqual([]);
    expect(counts.decided).toBeGreaterThan(0);
    expect(counts.depends).toBeGreaterThan(0);
    expect(counts.longer).toBeLessThan(counts.depends);
  }, 1_200_000);
});
