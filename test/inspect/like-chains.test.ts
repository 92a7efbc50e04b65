import { expect, it } from "vitest";
import { type AccessChain, runChain } from "../../compiler/inspect/diff/chain.ts";
import { chainDiff } from "../../compiler/inspect/diff/chain-differences.ts";
import { chainLikeness } from "../../compiler/inspect/diff/chain-likeness.ts";
import { runCondition } from "../../compiler/inspect/effect/rules/run-rules.ts";
import { termExpression } from "../../compiler/inspect/effect/words/in-words.ts";
import type { Rule } from "../../compiler/model/rules.ts";
import { RandomSource, ruleOf } from "./random-rules.ts";

const PAIRS = process.env.GWC_LONG_TESTS === "1" ? 2_000 : 20;

/** Names of which some begin with others, or are what requests have anyway; others that do so in the same way; and others that do not. */
const NAMES = [
  ["a", "ab", "abc", "b", "get-", "get-x", "other", "x", "xa", "", "jwt", "sub"],
  ["c", "cd", "cde", "d", "put-", "put-y", "else", "y", "yc", "", "jwt", "sub"],
  ["get-x", "get-", "a", "ab", "other", "", "abc", "x", "sub", "b", "xa", "a"],
];

function randomRule(random: RandomSource, names: readonly string[]): Rule | undefined {
  const name = () => JSON.stringify(random.pick(names));
  const text = random.pick([
    () => `jwt.sub == ${name()} && mcp.tool.name == ${name()}`,
    () => `${name()} in jwt.roles && mcp.tool.name.startsWith(${name()})`,
    () => `mcp.tool.name in [${name()}, ${name()}] || jwt.sub.startsWith(${name()})`,
    () => `jwt.roles.exists(r, r == ${name()} || r.startsWith(${name()}))`,
    () => `has(jwt.sub) && jwt.sub != ${name()}`,
    () => `mcp.tool.name == ${name()} ? jwt.sub == ${name()} : "sub" in jwt.roles`,
  ])();
  return ruleOf(random.pick(["allow", "allow", "deny", "require"] as const), text, "mcp");
}

function chainOfRules(rules: readonly (Rule | undefined)[]): AccessChain {
  const whole = rules.filter((rule) => rule !== undefined);
  return {
    identities: [{ variable: "jwt", isRequired: true }],
    stages: [{ phase: "mcp", rules: whole }],
  };
}

/** A call with each name, and what is near one, as tool, subject and role. */
function requestsWith(names: readonly string[]) {
  const values = [...names, "~", "abcd", "get-y"];
  return values.flatMap((tool) =>
    [undefined, 5, ...values].flatMap((sub, at) =>
      [[], [values[at]], values.slice(at, at + 3)].map((roles) => ({
        jwt: { ...(sub !== undefined && { sub }), roles },
        mcp: { methodName: "tools/call", tool: { name: tool, target: "other" } },
      })),
    ),
  );
}

it("chains that differ in names alone are solved once, and what is said of each is so of every request", () => {
  const keys = new Set<string>();
  let known = 0;
  const wrong: unknown[] = [];
  const all = Array.from({ length: PAIRS }, (_, seed) => NAMES.map((names) => ({ seed, names })));
  for (const { seed, names } of all.flat()) {
    const random = new RandomSource(seed * 32_452_843);
    const kept = randomRule(random, names);
    const [before, after] = [chainOfRules([kept]), chainOfRules([kept, randomRule(random, names)])];
    const key = chainLikeness([before, after], "mcp", undefined)?.key;
    if (key === undefined) throw new Error("there is more than names in these rules");
    known += Number(keys.has(key));
    keys.add(key);
    const { differences, undecided } = chainDiff(before, after, true);
    expect(undecided).toEqual([]);
    if (differences.some(({ isPartial }) => isPartial)) continue;
    for (const data of requestsWith(names)) {
      const [old, now] = [before, after].map((chain) => runChain(chain, data).isAllowed);
      const flip = old === now ? undefined : now === true ? "opens" : "closes";
      const said = differences.flatMap(({ direction, term }) =>
        runCondition(termExpression(term), "mcp", data) === "true" ? direction : [],
      );
      const isRight = flip === undefined ? said.length === 0 : said.every((each) => each === flip);
      if (!isRight || (flip !== undefined && said.length === 0))
        wrong.push({ seed, data, flip, said });
    }
  }
  expect(wrong.slice(0, 2)).toEqual([]);
  expect(known).toBeGreaterThanOrEqual(PAIRS);
});
