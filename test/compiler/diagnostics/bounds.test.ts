import { describe, expect, it } from "vitest";
import { compileExpression } from "../../../compiler/cel/compile.ts";
import { shownLine } from "../../../compiler/diagnostics/report/secrets.ts";
import { cpuMillis } from "../cel/cpu-time.ts";

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
