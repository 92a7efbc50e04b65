import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { type CelProblem, compileExpression } from "../../../compiler/cel/compile.ts";
import { functionOf } from "../../../compiler/cel/evaluate/run-code.ts";
import { libraries } from "../../../compiler/cel/functions/index.ts";
import { operatorNames, operators } from "../../../compiler/cel/functions/operators.ts";
import { cpuMillis } from "./cpu-time.ts";

function problemsOf(text: string): readonly CelProblem[] {
  return compileExpression(text, { phase: "mcp", slot: "value" }).problems;
}

/** A chain of so many operands. */
function sumOf(operands: number): string {
  return Array.from({ length: operands }, () => "jwt.a").join(" + ");
}

function run(text: string, jwt: unknown, slot: "allow" | "value" = "value"): unknown {
  const { expression } = compileExpression(text, { phase: "mcp", slot });
  if (expression === undefined) throw new Error(`"${text}" does not compile`);
  return functionOf(expression.code, expression.variables)({ jwt, mcp: {}, request: {} });
}

const VALID: readonly string[] = [
  'jwt.sub == "a" && "admin" in jwt.roles',
  'has(jwt.a.b) ? jwt.a["b"] : {"k": [1, 2u, 3.0, b"x", null]}',
  'jwt.roles.exists(r, r.startsWith("adm")) || !(jwt.level >= -3)',
  'r"\\d" + """tri"ple""" + \'it\\x41\' != jwt.?x.orValue("")',
  "math.greatest(1, jwt.n) % 7 == 0x1F",
];

describe("bad expressions", () => {
  it("one character too many is refused, the last allowed one is not", () => {
    const fill = (length: number) => `"${"a".repeat(length - 2)}"`;
    expect(problemsOf(fill(16_384))).toEqual([]);
    expect(problemsOf(fill(16_385)).map(({ code }) => code)).toEqual(["cel-too-long"]);
  });

  it.each([
    [
      "parentheses around a negation",
      (depth: number) => `${"!(".repeat(depth)}true${")".repeat(depth)}`,
    ],
    ["lists", (depth: number) => "[".repeat(depth) + "]".repeat(depth)],
    ["calls", (depth: number) => `${"size(".repeat(depth)}""${")".repeat(depth)}`],
    ["selections", (depth: number) => `jwt${".a".repeat(depth)}`],
    ["signs", (depth: number) => `${"-".repeat(depth)}jwt.a`],
    [
      "ternaries in tests",
      (depth: number) => `${"(".repeat(depth)}true${"? true : false)".repeat(depth)}`,
    ],
  ])("%s nested too deep are refused", (_, nest) => {
    expect(problemsOf(nest(40)).map(({ code }) => code)).not.toContain("cel-too-deep");
    for (const depth of [101, 500, 1_000]) {
      expect(problemsOf(nest(depth)).map(({ code }) => code)).toEqual(["cel-too-deep"]);
    }
  });

  it("a hundred and one levels are one too many", () => {
    expect(problemsOf(`${"!".repeat(99)}jwt`)).toEqual([]);
    expect(problemsOf(`${"!".repeat(100)}jwt`).map(({ code }) => code)).toEqual(["cel-too-deep"]);
  });

  it("a long chain of operators is not deep", () => {
    const names = Array.from({ length: 900 }, (_, at) => `jwt.a == ${at}`);
    expect(problemsOf(names.join(" || "))).toEqual([]);
    expect(problemsOf(sumOf(399))).toEqual([]);
    expect(problemsOf(sumOf(400)).map(({ code }) => code)).toEqual(["cel-too-deep"]);
  });

  // Code that is not optimized takes several times as much stack.
  it.each([sumOf(399), `${sumOf(300)} + ${"(".repeat(97)}jwt.a${" + jwt.b)".repeat(97)}`])(
    "the longest chains compile before V8 optimizes the compiler: %.20s",
    (text) => {
      const file = pathToFileURL(join(import.meta.dirname, "../../../compiler/cel/compile.ts"));
      const code = `const { compileExpression } = await import(${JSON.stringify(file.href)});
        const { problems } = compileExpression(${JSON.stringify(text)}, { phase: "mcp", slot: "value" });
        console.log(JSON.stringify(problems));`;
      const flags = ["--no-opt", "--no-sparkplug", "--no-maglev", "--stack-size=700"];
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [...flags, "--input-type=module", "-e", code],
        { encoding: "utf8" },
      );
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toEqual([]);
    },
  );

  it("wherever an expression is cut off or spoilt, the problem is inside it and nothing is thrown", () => {
    for (const text of VALID) {
      expect(problemsOf(text)).toEqual([]);
      for (let at = 0; at <= text.length; at += 1) {
        const spoilt = ["", "@", "'", '"', "\\", "(", "]", "?", "0x", "\n", "é", ".", "`"].flatMap(
          (junk) => [text.slice(0, at) + junk, text.slice(0, at) + junk + text.slice(at)],
        );
        for (const each of spoilt) {
          for (const { within } of problemsOf(each)) {
            expect(within[0]).toBeGreaterThanOrEqual(0);
            expect(within[1]).toBeGreaterThanOrEqual(within[0]);
            expect(within[1]).toBeLessThanOrEqual(each.length);
          }
        }
      }
    }
  });

  it.each([
    ["9223372036854775808", "cel-number-range", "9223372036854775808"],
    ["-9223372036854775809", "cel-number-range", "-9223372036854775809"],
    ["18446744073709551616u", "cel-number-range", "18446744073709551616u"],
    ["jwt.a == 1 / 0", "cel-always-fails", "1 / 0"],
    ["jwt.a == 5 % (2 - 2)", "cel-always-fails", "5 % (2 - 2)"],
    ["jwt.a + 9223372036854775807 * 2", "cel-always-fails", "9223372036854775807 * 2"],
    ['timestamp("yesterday") < jwt.a', "cel-always-fails", 'timestamp("yesterday")'],
    ['int("x") == jwt.a', "cel-always-fails", 'int("x")'],
    ["[1, 2][2] == jwt.a", "cel-always-fails", "[1, 2][2]"],
    ['{"a": 1, "a": jwt.b}.a', "", ""],
    ["jwt.a.matches('(')", "cel-pattern", "("],
    ["jwt.a.matches('x\\\\1')", "cel-pattern", "\\\\1"],
    ["jwt.sbu.foo(1)", "cel-unknown-function", "foo"],
    ["jwtt.sub", "cel-unknown-variable", "jwtt"],
    ["mcp.tool.nam", "cel-unknown-field", "nam"],
    ["response.code == 200", "cel-wrong-phase", "response"],
    ["request", "cel-object-as-value", "request"],
    ["request.path.x", "cel-not-selectable", "x"],
    ["request.path + 1", "cel-no-overload", "request.path + 1"],
    ["request.path && true", "cel-not-bool", "request.path"],
    ["has(jwt)", "cel-has-argument", "jwt"],
    ["jwt.a.all(1, true)", "cel-macro-variable", "1"],
    ["request.path == 1", "cel-never-equal", "request.path == 1"],
  ])("%s is reported at the very place", (text, code, marked) => {
    const [first] = problemsOf(text);
    expect(first?.code ?? "").toBe(code);
    expect(first === undefined ? "" : text.slice(...first.within)).toBe(marked);
  });

  it("every mistake of an expression is reported in one run", () => {
    const codes = problemsOf(
      'jwtt.a == 1 && request.pat == "x" && foo(request.path + 1) && has(1)',
    );
    expect(codes.map(({ code }) => code)).toEqual(["cel-has-argument"]);
    const more = problemsOf('jwtt.a == 1 && request.pat == "x" && foo(request.path + 1)');
    expect(more.map(({ code }) => code)).toEqual([
      "cel-unknown-variable",
      "cel-unknown-field",
      "cel-no-overload",
      "cel-unknown-function",
    ]);
  });

  it.each([
    ["allow", "1 == 1", ["cel-always"]],
    ["allow", "true", []],
    ["allow", 'jwt.sub == "a" && jwt.sub == "b"', ["cel-always"]],
    ["deny", "jwt.a == 1 && false", ["cel-never-denies"]],
    ["deny", "false", ["cel-never-denies"]],
    ["require", "'a'", ["cel-not-bool"]],
    ["value", "1 == 1", []],
  ] as const)("as %s, %s gives %j", (slot, text, codes) => {
    const { problems } = compileExpression(text, { phase: "mcp", slot });
    expect(problems.map(({ code }) => code)).toEqual(codes);
  });
});

const DEEP = JSON.parse("[".repeat(20_000) + "]".repeat(20_000)) as unknown;

const MILLION = Array.from({ length: 1_000_000 }, (_, at) => `role-${at}`);

/** Claims of every shape, none of them what a rule expects. */
const CLAIMS: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  "",
  "a",
  "\ud800",
  "%",
  "(",
  "2026-13-45T99:99:99Z",
  [],
  [null],
  [[["a"]]],
  ["a", 1, null, {}],
  {},
  { a: 1 },
  JSON.parse('{"__proto__": 1, "constructor": 2, "toString": null, "length": -1}'),
  DEEP,
];

describe("hostile claims", () => {
  it("no operator and no function throws, whatever a claim is", () => {
    let count = 0;
    for (const { functions } of libraries) {
      for (const declaration of functions) {
        for (const overload of declaration.overloads) {
          const args = overload.params.map((_, at) => `jwt.c${at}`);
          const text = callText(declaration.name, args, overload.isMethod);
          const { expression } = compileExpression(text, { phase: "mcp", slot: "value" });
          if (expression === undefined) throw new Error(`"${text}" does not compile`);
          const evaluate = functionOf(expression.code, expression.variables);
          for (const first of CLAIMS) {
            for (const second of args.length > 1 ? CLAIMS : [undefined]) {
              evaluate({ jwt: { c0: first, c1: second, c2: first, c3: second } });
              count += 1;
            }
          }
        }
      }
    }
    expect(count).toBeGreaterThan(10_000);
  });

  it("an inherited property is no claim", () => {
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"]) {
      expect(run(`jwt.${name}`, {})).toBeUndefined();
      expect(run(`has(jwt.${name})`, {})).toBe(false);
      expect(run(`jwt["${name}"]`, {})).toBeUndefined();
      expect(run(`"${name}" in jwt`, {})).toBe(false);
      expect(run(`jwt.a.${name}`, { a: {} })).toBeUndefined();
      expect(run(`jwt.a.${name}`, { a: "text" })).toBeUndefined();
      expect(run(`jwt.a[jwt.b]`, { a: {}, b: name })).toBeUndefined();
      expect(run(`jwt.a.${name}`, { a: JSON.parse(`{"${name}": 1}`) })).toBe(1);
    }
    expect(run("jwt.a.length", { a: "abc" })).toBeUndefined();
    expect(run("jwt.a[0]", { a: "abc" })).toBeUndefined();
  });

  it("without a token, no claim matches and none is there", () => {
    expect(run('jwt.sub == "a"', null, "allow")).toBe(false);
    expect(run("jwt == null", null, "allow")).toBe(true);
    expect(run("has(jwt.sub)", null)).toBe(false);
    expect(run("jwt.sub", null)).toBeUndefined();
    expect(run('"admin" in jwt.roles', null, "allow")).toBe(false);
  });

  it.each([
    '"admin" in jwt.roles',
    'jwt.roles.exists(r, r.startsWith("adm"))',
    'jwt.roles.all(r, r != "x")',
    'jwt.roles.filter(r, r == "x").size() > 0',
    "jwt.roles.map(r, r + '!').size() > 0",
    "jwt.roles == jwt.roles",
    "size(jwt.roles) > 3",
    "jwt.roles.exists(x, jwt.roles.all(y, x != y))",
    "jwt.roles.sort()[0] == 'a'",
    "max(jwt.roles) == 'a'",
    "jwt.roles.join(',') == ''",
  ])("%s takes less than 50 ms per pass over a list of a million", (text) => {
    const jwt = { roles: MILLION };
    const { expression } = compileExpression(text, { phase: "mcp", slot: "allow" });
    if (expression === undefined) throw new Error("not compiled");
    const evaluate = functionOf(expression.code, expression.variables);
    evaluate({ jwt });
    expect(cpuMillis(() => evaluate({ jwt }))).toBeLessThan(50);
  });
});

it("a pattern from a request is bounded, and no pattern is an error", () => {
  const text = "jwt.text.matches(jwt.pattern)";
  expect(run(text, { text: "aab", pattern: "^a+b$" })).toBe(true);
  for (const pattern of ["(", "a{1000}".repeat(30), "x".repeat(257), "(a{10}){100}b{1000}", 1]) {
    expect(run(text, { text: "a".repeat(8_000), pattern })).toBeUndefined();
  }
});

it("macros inside each other go over lists of a thousand", () => {
  const text = "jwt.a.exists(x, jwt.b.exists(y, x == y))";
  const long = Array.from({ length: 1_000 }, (_, at) => at);
  expect(run(text, { a: long, b: [999] })).toBe(true);
  expect(run(text, { a: [...long, 1], b: [999] })).toBeUndefined();
});

function callText(name: string, args: readonly string[], isMethod: boolean): string {
  const symbol = [...operatorNames].find(([, known]) => known === name)?.[0];
  if (operators.some((operator) => operator.name === name)) {
    return args.length === 1 ? `${symbol ?? "-"}${args[0]}` : args.join(` ${symbol} `);
  }
  return isMethod
    ? `${args[0]}.${name}(${args.slice(1).join(", ")})`
    : `${name}(${args.join(", ")})`;
}
