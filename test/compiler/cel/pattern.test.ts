import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { compileExpression } from "../../../compiler/cel/compile.ts";
import { functionOf } from "../../../compiler/cel/evaluate/run-code.ts";
import { compileConstantPattern, type PatternMatch } from "../../../compiler/cel/regex/pattern.ts";
import { Expressions } from "../../../templates/code/expression.ts";
import type { Expression } from "../../../templates/code/hole.ts";
import { printText } from "../../../templates/code/print.ts";
import { cpuMillis } from "./cpu-time.ts";

function run(pattern: string, match: PatternMatch, text: string): unknown {
  const { code } = compileConstantPattern(pattern, { subject: "text", match });
  if (code === undefined) throw new Error(`"${pattern}" is refused`);
  return functionOf(code, ["text"])({ text });
}

function textOf(code: Expression | undefined): string | undefined {
  return code === undefined ? undefined : printText(new Expressions().use(code));
}

const literal = fc.constantFrom("a", "b", "ab", "/", "\\.", "[.]", "é", "😀", "-", " ");
const atom = fc.letrec<{ atom: string; group: string; sequence: string }>((tie) => ({
  group: fc
    .tuple(fc.constantFrom("(", "(?:"), fc.array(tie("sequence"), { minLength: 1, maxLength: 3 }))
    .map(([open, parts]) => `${open}${parts.join("|")})`),
  sequence: fc.array(tie("atom"), { maxLength: 3 }).map((parts) => parts.join("")),
  atom: fc.oneof(
    { maxDepth: 2 },
    literal,
    literal,
    fc.constantFrom("^", "$", ".*", ".", "[ab]+", "a?"),
    tie("group"),
  ),
})).atom;
const patterns = fc.array(atom, { maxLength: 4 }).map((parts) => parts.join(""));
const texts = fc.array(fc.constantFrom("a", "b", "/", ".", "\n", "é", "😀", "-"), { maxLength: 6 });

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 500 : 10_000;

describe("patterns", () => {
  it("string operations and the engine give what RE2 gives", () => {
    fc.assert(
      fc.property(patterns, fc.array(texts, { minLength: 1, maxLength: 8 }), (pattern, samples) => {
        const compiled = RE2JS.compile(pattern);
        for (const text of samples.map((parts) => parts.join(""))) {
          expect(run(pattern, "search", text), `${pattern} in ${text}`).toBe(compiled.test(text));
          expect(run(pattern, "full", text), `${pattern} is ${text}`).toBe(
            compiled.testExact(text),
          );
        }
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ["^/api/", "search", 'path.startsWith("/api/")'],
    ["/api/.*", "full", 'path.startsWith("/api/") && !path.includes("\\n")'],
    ["/api", "full", 'path === "/api"'],
    ["^(/a|/b)$", "search", 'path === "/a" || path === "/b"'],
    ["[.]json$", "search", 'path.endsWith(".json")'],
    ["admin", "search", 'path.includes("admin")'],
    ["^/users/[0-9]+$", "search", "matchesPart(pattern, path)"],
    ["(?i)/api", "full", "matchesWhole(pattern, path)"],
  ] as const)("%s (%s) becomes %s", (pattern, match, text) => {
    expect(textOf(compileConstantPattern(pattern, { subject: "path", match }).code)).toBe(text);
  });

  it("two patterns in one expression are two constants", () => {
    const { expression } = compileExpression('jwt.a.matches("a+") && jwt.b.matches("b+")', {
      phase: "mcp",
      slot: "allow",
    });
    if (expression === undefined) throw new Error("not compiled");
    const evaluate = functionOf(expression.code, expression.variables);
    const expressions = new Expressions();
    expressions.use(expression.code);
    const names = expressions.constants.map(({ name }) => name.text);
    expect(names).toEqual(["pattern", "pattern2"]);
    expect(evaluate({ jwt: { a: "a", b: "b" } })).toBe(true);
    expect(evaluate({ jwt: { a: "a", b: "a" } })).toBe(false);
  });

  it("an alternation of many literals becomes a set", () => {
    const names = Array.from({ length: 40 }, (_, at) => `name-${at}`);
    const { code } = compileConstantPattern(names.join("|"), { subject: "path", match: "full" });
    expect(textOf(code)).toBe("names.has(path)");
    expect(run(names.join("|"), "full", "name-39")).toBe(true);
    expect(run(names.join("|"), "full", "name-40")).toBe(false);
  });

  it.each([
    ["ab(cd", "(", "missing closing )"],
    ["ab)cd", ")", "unexpected )"],
    ["ab(?=c)", "(?=", "invalid or unsupported Perl syntax"],
    ["ab(?<!c)d", "(?<!", "invalid"],
    ["(a)\\\\\\1", "\\1", "invalid escape sequence"],
    ["a**", "**", "invalid nested repetition operator"],
    ["a++", "++", "invalid nested repetition operator"],
    ["*a", "*", "missing argument to repetition operator"],
    ["a{2000}", "{2000}", "invalid repeat count"],
    ["[z-a]", "z-a", "invalid character class range"],
    ["x[ab", "[ab", "missing closing ]"],
    ["\\p{Nope}", "\\p{Nope}", "invalid character class range"],
    ["ab\\", "\\", "trailing backslash"],
  ])("in %s the mistake %s is marked", (pattern, marked, problem) => {
    const { code, problems } = compileConstantPattern(pattern, {
      subject: "path",
      match: "search",
    });
    expect(code).toBeUndefined();
    const [found] = problems;
    expect(found?.code).toBe("cel-pattern");
    expect(pattern.slice(...(found?.within ?? [0, 0]))).toMatch(
      new RegExp(`^${marked.replace(/[^\w]/g, "\\$&")}`),
    );
    expect(JSON.stringify(found?.params)).toContain(problem);
  });

  it("a pattern whose program is too large is refused", () => {
    const { problems } = compileConstantPattern("(a{1,30}b{1,30}){1,30}", {
      subject: "s",
      match: "full",
    });
    expect(problems.map(({ code }) => code)).toEqual(["cel-pattern-size"]);
  });

  it.each(["^(a+)+$", "(x+x+)+y", "^(a|a)*$", "(.*a){12}$", "^(([a-z])+.)+[A-Z]([a-z])+$"])(
    "%s does not backtrack: 28 hostile characters take less than 10 ms, 8,000 less than 50 ms",
    (pattern) => {
      for (const hostile of ["a".repeat(28), "a".repeat(8000), "x".repeat(8000)]) {
        run(pattern, "search", "a");
        const { code } = compileConstantPattern(pattern, { subject: "text", match: "search" });
        if (code === undefined) throw new Error("refused");
        const matches = functionOf(code, ["text"]);
        matches({ text: `${hostile.slice(0, 20)}!` });
        const taken = cpuMillis(() => matches({ text: `${hostile}!` }));
        expect(taken).toBeLessThan(hostile.length < 100 ? 10 : 50);
      }
    },
  );
});
