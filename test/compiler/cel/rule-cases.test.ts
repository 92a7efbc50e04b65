import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileRule } from "../../../compiler/cel/compile.ts";
import { functionOf } from "../../../compiler/cel/evaluate/run-code.ts";
import { type Item, plainText, rewritten, ruleTrees, verdictOf } from "../../mcp/rule-forms.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 300 : 10_000;

const items: readonly Item[] = [
  { kind: "tool", name: "add" },
  { kind: "tool", name: "drop" },
  { kind: "prompt", name: "ask" },
  { kind: "prompt", name: "add" },
  { kind: "resource", name: "memo://notes" },
];
const callers = [null, { sub: "alice" }, { sub: "bob", level: 9 }, { sub: "alice", level: 1 }];

/** Whether a rule objects to an item, or allows it. */
function acts(
  text: string,
  action: "allow" | "deny" | "require",
): ((item: Item, jwt: unknown) => boolean) | undefined {
  const { cases, expression } = compileRule(text, "mcp", action);
  if (expression === undefined) return undefined;
  const tests = cases.map((each) => ({
    ...each,
    run: functionOf(each.expression.code, each.expression.variables),
  }));
  return (item, jwt) =>
    tests.some(({ present, absent, run }) => {
      const own = `mcp.${item.kind}`;
      if (!present.every((path) => path === own) || absent.includes(own)) return false;
      const mcp = { methodName: "x/list", [item.kind]: { name: item.name, target: "main" } };
      const isTrue = run({ jwt, mcp });
      return action === "require" ? isTrue !== true : isTrue === true;
    });
}

describe("a rule over several kinds of MCP items", () => {
  it("denies the items of which it is true, and those for which it fails", () => {
    fc.assert(
      fc.property(ruleTrees, (tree) => {
        const denies = acts(plainText(tree), "deny");
        for (const item of items) {
          for (const jwt of callers) {
            if (denies === undefined) continue;
            expect(denies(item, jwt)).toBe(verdictOf(tree, item, jwt).isTrue);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it.each(["allow", "deny", "require"] as const)(
    "says the same of every item in other words, as %s",
    (action) => {
      fc.assert(
        fc.property(ruleTrees, fc.infiniteStream(fc.nat(1_000)), (tree, stream) => {
          const choose = (choices: number) => Number(stream.next().value) % choices;
          const other = rewritten(tree, choose);
          const [plain, changed] = [acts(plainText(tree), action), acts(other, action)];
          expect(changed === undefined, other).toBe(plain === undefined);
          for (const item of items) {
            for (const jwt of callers) {
              expect(changed?.(item, jwt), `${other} ${JSON.stringify({ item, jwt })}`).toBe(
                plain?.(item, jwt),
              );
            }
          }
        }),
        { numRuns: RUNS },
      );
    },
  );
});
