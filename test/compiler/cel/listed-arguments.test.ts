import fc from "fast-check";
import { expect, it } from "vitest";
import { compileExpression } from "../../../compiler/cel/compile.ts";
import { variablesFrom } from "../../../compiler/cel/evaluate/evaluate-data.ts";
import { functionOf } from "../../../compiler/cel/evaluate/run-code.ts";
import { withListing } from "../../../compiler/cel/kinds/listed-arguments.ts";

const condition = fc.constantFrom(
  'mcp.tool.name == "a"',
  'mcp.tool.target == "t"',
  "mcp.tool.arguments.x == 1",
  "mcp.tool.arguments.x < 2",
  "has(mcp.tool.arguments.x)",
  'mcp.tool.arguments["y"] == "s"',
  '"y" in mcp.tool.arguments',
  "mcp.tool.arguments.exists(key, key == 'y')",
  "jwt.sub == 'eve'",
);
const { rule } = fc.letrec<{ rule: string }>((tie) => ({
  rule: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    condition,
    fc.tuple(tie("rule"), tie("rule")).map(([left, right]) => `(${left} && ${right})`),
    fc.tuple(tie("rule"), tie("rule")).map(([left, right]) => `(${left} || ${right})`),
    tie("rule").map((operand) => `!(${operand})`),
    fc
      .tuple(tie("rule"), tie("rule"), tie("rule"))
      .map(([test, then, otherwise]) => `(${test} ? ${then} : ${otherwise})`),
  ),
}));

const givenArguments = [undefined, 1, 5, "1", null].flatMap((x) =>
  [undefined, "s", 7].map((y) => JSON.parse(JSON.stringify({ x, y }))),
);

/** Returns whether a rule lets a tool pass, for lists and for calls with some arguments. */
function verdicts(text: string, action: "allow" | "deny", name: string) {
  const { expression } = compileExpression(withListing(text, action), {
    phase: "mcp",
    slot: action,
  });
  if (expression === undefined) throw new Error(text);
  const run = functionOf(expression.code, expression.variables);
  const passes = (mcp: object) =>
    run(variablesFrom({ jwt: { sub: "ann" }, mcp })) === (action === "allow");
  const tool = { name, target: "t" };
  return {
    isListed: passes({ methodName: "tools/list", tool }),
    isCallable: givenArguments.some((each) =>
      passes({ methodName: "tools/call", tool: { ...tool, arguments: each } }),
    ),
  };
}

it.each(["allow", "deny"] as const)(
  "lists show what some arguments let pass in %s rules",
  (action) => {
    let hidden = 0;
    const property = fc.property(rule, fc.constantFrom("a", "b"), (text, name) => {
      const { isListed, isCallable } = verdicts(text, action, name);
      if (!isListed) hidden++;
      expect(isListed || !isCallable, text).toBe(true);
    });
    fc.assert(property, { numRuns: 500 });
    expect(hidden).toBeGreaterThan(20);
  },
);

it.each([
  ['mcp.tool.name == "a" && mcp.tool.arguments.x == 1', "b"],
  ['mcp.tool.name == "a" && has(mcp.tool.arguments.x) ? mcp.tool.arguments.x == 1 : false', "b"],
  ["mcp.tool.arguments.x == 1 && false", "a"],
])("a list hides what no arguments let pass: %s", (text, name) => {
  expect(verdicts(text, "allow", name).isListed).toBe(false);
});

it("rules without arguments are unchanged", () => {
  const text = 'jwt.arguments == "x" || mcp.tool.name == "arguments"';
  expect(withListing(text, "allow")).toBe(text);
});
