import { describe, expect, it } from "vitest";
import { emittedText, evaluateExpression } from "../../../compiler/cel/evaluate/evaluate.ts";

const data = {
  jwt: { sub: "ann", roles: ["admin"], big: 2 ** 53 },
  request: {
    method: "POST",
    path: "/v1/chat",
    headers: { "X-Id": ["1", "2"], Cookie: "a=b" },
    body: { model: "m" },
    startTime: "2026-01-02T03:04:05.678Z",
  },
  source: { address: "10.1.2.3", port: 4711, identity: { namespace: "prod" } },
  response: { code: 201, headers: { "Content-Type": "text/plain" } },
  mcp: { tool: { name: "echo", target: "one" }, methodName: "tools/call" },
  llm: { inputTokens: 3, outputTokens: 4 },
};

describe("evaluating an expression on data", () => {
  it.each([
    ["jwt.sub", '"ann"', "ann", "string"],
    ["auth.claims.roles", '["admin"]', ["admin"], "list"],
    ["request.method + request.path", '"POST/v1/chat"', "POST/v1/chat", "string"],
    ['request.headers["x-id"]', '"1, 2"', "1, 2", "string"],
    ['request.headers["cookie"].cookie("a")', '"b"', "b", "string"],
    ['request.headers.cookie("a")', '"b"', "b", "string"],
    ['request.headers.join()["x-id"]', '"1, 2"', "1, 2", "string"],
    ['request.headers.redacted()["cookie"]', '"<redacted>"', "<redacted>", "string"],
    ["json(request.bodyPrefix).model", '"m"', "m", "string"],
    ["destination.port", "80", 80, "int"],
    ["source.rawAddress", '"10.1.2.3"', "10.1.2.3", "string"],
    ["2.5 * 2", "5.0", 5, "double"],
    ["1 + 0.5 - 1", "0.5", 0.5, "double"],
    ["json(request.body).model", '"m"', "m", "string"],
    ["json(request.body).merge({'a': 1}).toJson().size() > 10", "true", true, "bool"],
    [
      "request.startTime",
      'timestamp("2026-01-02T03:04:05.678Z")',
      "2026-01-02T03:04:05.678Z",
      "timestamp",
    ],
    ["request.startTime.getHours()", "3", 3, "int"],
    ['cidr("10.0.0.0/8").containsIP(source.address)', "true", true, "bool"],
    ["source.identity.namespace", '"prod"', "prod", "string"],
    ["response.code >= 200", "true", true, "bool"],
    ["llm.inputTokens + llm.outputTokens", "7", 7, "int"],
    ["mcp.tool.name", '"echo"', "echo", "string"],
    ["9223372036854775807", "9223372036854775807", "9223372036854775807", "int"],
    ["9007199254740991", "9007199254740991", 9007199254740991, "int"],
    ["18446744073709551615u", "18446744073709551615u", "18446744073709551615", "uint"],
    ["1.0", "1.0", 1, "double"],
    ['b"\\xff\\x00"', 'b"\\xff\\x00"', "/wA=", "bytes"],
    ['duration("90m")', 'duration("5400s")', "5400s", "duration"],
    ["{1: [2.5, null]}", "{1: [2.5, null]}", { 1: [2.5, null] }, "map(int, list(dyn))"],
    ["type(1u)", "uint", "uint", "type(uint)"],
    ["has(jwt.nope)", "false", false, "bool"],
  ])("%s is %s", (text, written, json, type) => {
    const found = evaluateExpression(text, { phase: "log", data });
    expect(found).toMatchObject({ kind: "value", text: written });
    expect("json" in found && found.json).toEqual(json);
    expect("type" in found && found.type.startsWith(type)).toBe(true);
  });

  it("an error of the evaluation differs from a mistake of the expression", () => {
    expect(evaluateExpression("jwt.nope", { phase: "mcp", data }).kind).toBe("error");
    expect(evaluateExpression("jwtt.sub", { phase: "mcp", data }).kind).toBe("invalid");
    expect(evaluateExpression("jwt.sub", { phase: "mcp", data: undefined }).kind).toBe("error");
  });

  it("without data there is a request, and nobody has signed in", () => {
    expect(evaluateExpression("request.path", { phase: "mcp", data: {} })).toMatchObject({
      text: '"/"',
    });
    expect(evaluateExpression("jwt == null", { phase: "mcp", data: {} })).toMatchObject({
      text: "true",
    });
  });

  it("the emitted code is shown with its imports and constants", () => {
    const found = evaluateExpression('jwt.sub.matches("^[a-z]+$")', { phase: "mcp", data });
    if (found.kind !== "value") throw new Error("no value");
    expect(emittedText(found.expression).split("\n")).toEqual([
      'import { compilePattern, matchesPart, testText } from "gwc/runtime/cel/functions/pattern";',
      "",
      "// Constants of the expressions below.",
      'const pattern = compilePattern("^[a-z]+$");',
      "",
      '// jwt.sub.matches("^[a-z]+$")',
      "// reads jwt",
      "testText(jwt?.sub, (text) => matchesPart(pattern, text))",
    ]);
  });
});
