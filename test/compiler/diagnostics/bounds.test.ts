import path from "node:path";
import { describe, expect, it } from "vitest";
import { compileExpression } from "../../../compiler/cel/compile.ts";
import { emittedText, evaluateExpression } from "../../../compiler/cel/evaluate/evaluate.ts";
import { shownLine } from "../../../compiler/diagnostics/report/text.ts";
import { realHost } from "../../../compiler/host.ts";
import { checkInput } from "../../../compiler/inspect/check-input.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { cpuMillis } from "../cel/cpu-time.ts";

/** Parts inside each other that were once written down twice for each part around them. */
const nested: Readonly<Record<string, (count: number) => string>> = {
  defaults: (count) => `${"default(".repeat(count)}jwt.a${', "x")'.repeat(count)}`,
  "fallbacks of defaults": (count) =>
    `${"default(default(jwt.b, 1), ".repeat(count)}1${")".repeat(count)}`,
  memberships: (count) => `${"(".repeat(count)}request.path${' in ["a"])'.repeat(count)}`,
  "optional fields": (count) => `jwt${".?a".repeat(count)}`,
  "tests of texts": (count) => `${"string(".repeat(count)}jwt.a${').contains("x")'.repeat(count)}`,
  bindings: (count) =>
    `${Array.from({ length: count }, (_, at) => `cel.bind(v${at}, jwt.a${at}, `).join("")}v0${")".repeat(count)}`,
  "macros over claims": (count) =>
    `${Array.from({ length: count }, (_, at) => `jwt.a${at}.exists(v${at}, `).join("")}true${")".repeat(count)}`,
  "long sums": (count) => Array.from({ length: 20 * count }, () => '("text")').join(" + "),
};

function emitted(text: string): string {
  const { expression } = compileExpression(text, { phase: "request", slot: "value" });
  return expression === undefined ? "" : emittedText(expression);
}

const codesOf = (text: string) =>
  compileExpression(text, { phase: "request", slot: "value" }).problems.map(({ code }) => code);

describe("input made to take long", () => {
  it.each([
    ["nested macros", `${"[1].all(x, ".repeat(26)}true${")".repeat(26)}`],
    ["a chain that fails at its start", `1 / 0${" + 1".repeat(300)}`],
    ["a chain that does not grow", `"hello"${'.replace("l", "12")'.repeat(90)}`],
  ])("%s are compiled in less than a second", (_, text) => {
    expect(cpuMillis(() => codesOf(text), 2)).toBeLessThan(1_000);
  });

  it.each([
    ["replacing", `"a"${'.replace("a", "aa")'.repeat(60)}`],
    ["replacing inside a macro", `["a"].map(x, x${'.replace("a", "aa")'.repeat(60)})`],
    ["adding to itself", `"a"${".with(x, x + x)".repeat(60)}`],
    ["joining", `"a"${'.with(x, [x, x].join("-"))'.repeat(60)}`],
  ])("a constant that doubles by %s is refused", (_, text) => {
    expect(codesOf(text)).toEqual(["cel-too-costly"]);
  });

  it.each(Object.entries(nested))(
    "%s inside each other many times take no longer each",
    (_, nest) => {
      const millis = (count: number) => cpuMillis(() => emitted(nest(count)), 3);
      millis(10);
      // twice as many take twice as long, or four times; one that doubles with each would take a million times as long
      expect(millis(40)).toBeLessThan(20 * millis(20) + 20);
    },
  );

  it("unknown keys take no longer each if there are many, and a hundred are reported one by one", () => {
    const millis = (count: number) => {
      const keys = Array.from({ length: count }, (_, at) => `  key${at}: 1\n`).join("");
      const folder = temporaryFolder({ "gateway.yaml": `binds: []\nconfig:\n${keys}` });
      const file = path.join(folder, "gateway.yaml");
      return cpuMillis(() => {
        const { findings } = checkInput([file], realHost({}), false);
        const codes = findings.map(({ code }) => code);
        expect(codes.filter((code) => code === "unknown-field")).toHaveLength(100);
        expect(codes.filter((code) => code === "unknown-fields")).toHaveLength(1);
      }, 1);
    };
    millis(1_000);
    expect(millis(50_000)).toBeLessThan(10 * millis(10_000));
  });

  it("a file that nests thousands of lists is reported at their place", () => {
    const file = path.join(
      temporaryFolder({ "gateway.yaml": `binds: ${"[".repeat(5_000)}${"]".repeat(5_000)}` }),
      "gateway.yaml",
    );
    const { findings } = checkInput([file], realHost({}), false);
    expect(findings.map(({ code }) => code)).toEqual(["yaml-syntax"]);
    expect(findings.map(({ message }) => message)).toEqual([
      "this is not valid YAML: its lists and mappings are nested too deep",
    ]);
  });

  it("lists that bindings double are compared part by part, each once", () => {
    const doubled = (name: string) =>
      Array.from({ length: 40 }, (_, at) => {
        const before = `${name}${at - 1}`;
        return `cel.bind(${name}${at}, ${at === 0 ? "[request.path]" : `[${before}, ${before}]`}, `;
      }).join("");
    const text = `${doubled("a")}${doubled("b")}a39 == b39${")".repeat(80)}`;
    // one that compared every place of a part would not end
    expect(evaluateExpression(text, { phase: "request", data: {} })).toMatchObject({
      text: "true",
    });
  });

  it("a long chain of small constants is evaluated", () => {
    expect(codesOf(`"hello"${'.replace("l", "12")'.repeat(90)}`)).toEqual([]);
    const list = `[${'"/path", '.repeat(200)}"x"]`;
    expect(codesOf(`${list}.map(x, x + "/").map(x, x + "b").size()`)).toEqual([]);
  });

  it("a long word is searched for secrets in linear time", () => {
    const words = ["a".repeat(100_000), "token".repeat(20_000)];
    for (const word of words) {
      expect(cpuMillis(() => shownLine("unknown-field", `x: ${word}`, 0, 1), 2)).toBeLessThan(300);
    }
  });
});
