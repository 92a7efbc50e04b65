import { describe, expect, it } from "vitest";
import { compileExpression } from "../../../compiler/cel/compile.ts";
import { evaluateExpression } from "../../../compiler/cel/evaluate/evaluate.ts";

describe("what an expression needs to be true", () => {
  it.each([
    ['mcp.tool.name == "a"', ["mcp.tool"]],
    ['jwt.sub == "a" && mcp.tool.name == "b"', ["jwt.sub", "mcp.tool"]],
    ['jwt.sub == "a" || mcp.tool.name == "b"', []],
    ['mcp.tool.name == "a" || mcp.tool.name == "b"', ["mcp.tool"]],
    ['!(mcp.tool.name == "a")', ["mcp.tool"]],
    ['!(jwt.sub == "a" && mcp.tool.name == "b")', []],
    ['!(jwt.sub == "a" || mcp.tool.name == "b")', ["jwt.sub", "mcp.tool"]],
    ["has(mcp.tool)", []],
    ["!has(mcp.tool)", []],
    ['jwt.sub == "a" ? mcp.tool.name == "b" : mcp.tool.name == "c"', ["jwt.sub", "mcp.tool"]],
    ['jwt.sub == "a" ? mcp.tool.name == "b" : true', ["jwt.sub"]],
    ['default(mcp.tool.name, "") == ""', []],
    ['["a", "b"].exists(x, x == mcp.tool.name)', []],
  ])("%s", (expression, needs) => {
    const compiled = compileExpression(expression, { phase: "mcp", slot: "deny" });
    expect(compiled.expression?.needs).toEqual(needs);
    if (!needs.includes("mcp.tool")) return;
    // For a prompt it is nothing like true, whoever asks.
    for (const sub of ["a", "z"]) {
      const data = { jwt: { sub }, mcp: { prompt: { name: "p", target: "t" }, methodName: "x" } };
      const found = evaluateExpression(expression, { phase: "mcp", data });
      expect(found.kind === "value" && found.json === true).toBe(false);
    }
  });
});
