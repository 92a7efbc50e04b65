import { describe, expect, it } from "vitest";
import { compileExpression } from "../../../compiler/cel/compile.ts";
import { evaluateExpression } from "../../../compiler/cel/evaluate/evaluate.ts";
import { libraries } from "../../../compiler/cel/functions/index.ts";
import { MACRO_DOCS } from "../../../compiler/cel/macro-docs.ts";
import { CEL_PHASES, phaseEnvironment } from "../../../compiler/cel/variables/variables.ts";

const examples = [
  ...libraries.flatMap(({ functions }) =>
    functions.map(({ name, example }) => [name, example] as const),
  ),
  ...MACRO_DOCS.map(({ form, example }) => [form, example] as const),
];

describe("the reference", () => {
  it.each(examples)("the example of %s gives what it says", (_, [expression, value]) => {
    const given = evaluateExpression(expression, { phase: "request", data: {} });
    const expected = evaluateExpression(value, { phase: "request", data: {} });
    expect(given).toMatchObject({ kind: "value" });
    expect("text" in given && given.text).toBe("text" in expected && expected.text);
  });

  it.each(CEL_PHASES)(
    "every variable of phase %s compiles, alone or through its fields",
    (phase) => {
      const { declarations } = phaseEnvironment(phase);
      for (const { path, code } of declarations.values()) {
        const { problems } = compileExpression(path, { phase, slot: "value" });
        const expected = code === undefined ? ["cel-object-as-value"] : [];
        expect(
          problems.map((problem) => problem.code),
          path,
        ).toEqual(expected);
      }
    },
  );
});
