import { describe, expect, it } from "vitest";
import { compileExpression } from "../../../compiler/cel/compile.ts";
import { functionOf } from "../../../compiler/cel/evaluate/run-code.ts";

function run(text: string, jwt: unknown): unknown {
  const { expression, problems } = compileExpression(text, { phase: "request", slot: "value" });
  if (expression === undefined) throw new Error(`${text}: ${problems.map(({ code }) => code)}`);
  const request = { path: "/aaaa" };
  return functionOf(expression.code, expression.variables)({ jwt, request });
}

const chained = (step: string) => (start: string, times: number) => start + step.repeat(times);
const bound = (body: string) => (start: string, times: number) => {
  const names = Array.from({ length: times + 1 }, (_, at) => `v${at}`);
  const open = names.map((name, at) =>
    at === 0
      ? `cel.bind(${name}, ${start}, `
      : `cel.bind(${name}, ${body.replaceAll("x", names[at - 1] ?? "")}, `,
  );
  return `${open.join("")}${names.at(-1)}${")".repeat(names.length)}`;
};

/** Expressions that make a string, bytes or a list longer each time. */
const growing: Readonly<
  Record<string, readonly [(start: string, times: number) => string, string]>
> = {
  "replacing one character by two": [chained('.replace("a", "aa")'), "jwt.text"],
  "replacing nothing": [chained('.replace("", jwt.text)'), "jwt.text"],
  "replacing by a pattern": [chained('.regexReplace("a", "aa")'), "jwt.text"],
  "replacing by a group twice": [chained('.regexReplace("(a+)", "$1$1")'), "jwt.text"],
  "adding a bound text to itself": [bound("x + x"), "request.path"],
  "adding a claim to itself": [bound("x + x"), "jwt.text"],
  "joining it with itself": [bound('[x, x].join(",")'), "jwt.text"],
  "writing it twice": [bound('"%s%s".format([x, x])'), "jwt.text"],
  "writing it as JSON twice": [bound("toJson([x, x])"), "jwt.text"],
  "adding bytes to themselves": [bound("x + x"), "bytes(string(jwt.text))"],
  "encoding it": [chained(".base64Encode()"), "string(jwt.text)"],
  "adding a list to itself": [bound("x + x"), "jwt.list"],
  "flattening it twice": [bound("flatten([x, x])"), "jwt.list"],
  "flattening lists of itself": [
    (start, times) => `flattenRecursive(${bound("[x, x]")(start, times)})`,
    "jwt.empty",
  ],
};

describe("what an expression makes of a request is bounded", () => {
  it.each(Object.entries(growing))("%s many times is an error", (_, [write, start]) => {
    const jwt = { text: "aaaa", list: [1, 2, 3, 4], empty: [] };
    expect(run(write(start, 1), jwt)).not.toBeUndefined();
    expect(run(write(start, 70), jwt)).toBeUndefined();
  });

  it("a text as long as a body may be is still replaced and put together", () => {
    const text = "a".repeat(2_000_000);
    expect(run('jwt.text.replace("a", "bb")', { text })).toHaveLength(4_000_000);
    expect(run('jwt.text.replace("a", "bbb")', { text })).toBeUndefined();
    expect(run('jwt.text.replace("a", "b$&", 1000)', { text })).toHaveLength(2_002_000);
    expect(run('"[" + jwt.text + "]"', { text })).toHaveLength(2_000_002);
    const longer = "ab".repeat(2_100_000);
    expect(run('jwt.text.replace("a", "$")', { text: longer })).toBe("$b".repeat(2_100_000));
  });
});

describe("json()", () => {
  it.each([
    ['{"a": 1, "a": 2}', undefined],
    ['{"a": 1, "\\u0061": 2}', undefined],
    ['[{"x": [{"b": {}, "b": {}}]}]', undefined],
    ['{"__proto__": 1, "__proto__": 2}', undefined],
    ['{"a": {"a": 1}, "b": ["a", "a", {"a": "b"}]}', '{"a":{"a":1},"b":["a","a",{"a":"b"}]}'],
    ['["a", "a", {}, {}]', '["a","a",{},{}]'],
    ['{"a": "\\"a\\": 1, \\"a\\": 2"}', '{"a":"\\"a\\": 1, \\"a\\": 2"}'],
    ['{"a": 1,', undefined],
  ])("reads %s as %s: an object with a key twice is an error", (text, expected) => {
    expect(run("toJson(json(jwt.text))", { text })).toBe(expected);
  });
});
