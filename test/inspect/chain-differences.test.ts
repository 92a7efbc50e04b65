import { describe, expect, it } from "vitest";
import { type AccessChain, runChain } from "../../compiler/inspect/diff/chain.ts";
import { chainDiff } from "../../compiler/inspect/diff/chain-differences.ts";
import type { Rule } from "../../compiler/model/rules.ts";
import {
  editedRules,
  RandomSource,
  type RulePhase,
  randomRequest,
  randomRules,
  ruleOf,
} from "./random-rules.ts";

/** Pairs of rule sets for each phase, and requests to each pair. */
const [PAIRS, REQUESTS] = process.env.GWC_LONG_TESTS === "1" ? [1_000, 200] : [20, 100];

function chainWith(phase: RulePhase, rules: readonly Rule[], random: RandomSource): AccessChain {
  const identities = [{ variable: "jwt", isRequired: random.chance(0.7) }];
  return { identities, stages: rules.length === 0 ? [] : [{ phase, rules }] };
}

describe("what two chains of policies decide differently", () => {
  it("is shown by a request that flips as it is said, where other requests flip the other way round", () => {
    const chain = (required: string): AccessChain => ({
      identities: [{ variable: "jwt", isRequired: false }],
      stages: [
        {
          phase: "request",
          rules: [
            ruleOf("require", required, "request"),
            ruleOf("allow", 'jwt.scope.lowerAscii() == "read write"', "request"),
          ].filter((rule) => rule !== undefined),
        },
      ],
    });
    const before = chain(
      'request.path.startsWith("/u/" + jwt.sub) && auth.claims.email == "a@corp.example" && ' +
        'jwt.sub.matches("^(dev|ops)-") && jwt.sub.matches("\\\\bdev\\\\b") && request.path.endsWith("/admin")',
    );
    const after = chain('request.path.contains("/files/a.json")');
    const { differences } = chainDiff(before, after, false);
    expect(differences.length).toBeGreaterThan(0);
    for (const { example, direction } of differences) {
      expect(runChain(after, example).isAllowed).toBe(direction === "opens");
      expect(runChain(before, example).isAllowed).toBe(direction === "closes");
    }
  });

  it.each(["request", "mcp"] as const)(
    "is whatever random requests find, and each difference flips when it is executed (%s)",
    (phase) => {
      const missed: unknown[] = [];
      const counts = { differ: 0, undecided: 0 };
      for (let seed = 1; seed <= PAIRS; seed += 1) {
        const random = new RandomSource(seed * 15_485_863);
        const rules = randomRules(random, phase);
        const before = chainWith(phase, rules, random);
        const after = chainWith(phase, editedRules(rules, random, phase), random);
        const { differences, undecided } = chainDiff(before, after, phase === "mcp");
        counts.differ += differences.length > 0 ? 1 : 0;
        counts.undecided += undecided.length > 0 ? 1 : 0;
        for (const { example, direction } of differences) {
          expect(runChain(after, example).isAllowed).toBe(direction === "opens");
          expect(runChain(before, example).isAllowed).toBe(direction === "closes");
        }
        for (let count = 0; count < REQUESTS; count += 1) {
          const data = randomRequest(random, phase);
          const now = runChain(after, data).isAllowed;
          if (runChain(before, data).isAllowed === now) continue;
          const isFound = differences.some(
            ({ direction }) => direction === (now ? "opens" : "closes"),
          );
          if (!isFound && undecided.length === 0) missed.push({ seed, data });
        }
      }
      expect(missed.slice(0, 2)).toEqual([]);
      expect(counts.differ).toBeGreaterThan(PAIRS / 3);
      expect(counts.undecided).toBeLessThanOrEqual(PAIRS / 20);
    },
    1_200_000,
  );
});
