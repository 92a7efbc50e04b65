import { comment, join } from "../../../templates/code/code.ts";
import { constantsOf, Expressions } from "../../../templates/code/expression.ts";
import { laidOut } from "../../../templates/code/layout.ts";
import { printModule } from "../../../templates/code/print.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { type CelPhase, type CelProblem, compileExpression } from "../compile.ts";
import { variablesFrom } from "./evaluate-data.ts";
import { toJsonValue, writeValue } from "./evaluate-text.ts";
import { functionOf, typeNameOf } from "./run-code.ts";

/** Result of `gwc eval`. */
export type Evaluation =
  | {
      readonly kind: "value";
      /** Value as a CEL literal. */
      readonly text: string;
      /** Value as JSON: bytes are base64, times are strings, ints beyond 2^53 are strings. */
      readonly json: unknown;
      /** Type, as precise as it is known. */
      readonly type: string;
      readonly expression: CompiledExpression;
      readonly problems: readonly CelProblem[];
    }
  /** Evaluation failed: a missing claim, a wrong type. */
  | {
      readonly kind: "error";
      readonly expression: CompiledExpression;
      readonly problems: readonly CelProblem[];
    }
  /** The expression is invalid. */
  | { readonly kind: "invalid"; readonly problems: readonly CelProblem[] };

/**
 * Compiles an expression and runs its code. `data` has the variables in the form of expressions: `{"jwt": {"sub": "a"},
 * "request": {"path": "/", "headers": {"x-id": "1"}}}`; missing data is absent, and the default request is `GET /`.
 */
export function evaluateExpression(
  text: string,
  options: { readonly phase: CelPhase; readonly data: unknown },
): Evaluation {
  const { expression, problems } = compileExpression(text, { phase: options.phase, slot: "value" });
  if (expression === undefined) return { kind: "invalid", problems };
  const run = functionOf(expression.code, expression.variables);
  const value = run(variablesFrom(options.data));
  if (value === undefined) return { kind: "error", expression, problems };
  return {
    kind: "value",
    text: writeValue(value),
    json: toJsonValue(value),
    type: expression.type === "dyn" ? typeNameOf(value) : expression.type,
    expression,
    problems,
  };
}

/** Returns the code of an expression, with the code that it depends on: `gwc eval --emit`. */
export function emittedText({ code, source, variables }: CompiledExpression): string {
  const expressions = new Expressions();
  const result = expressions.use(code);
  const body = [
    ...constantsOf(expressions),
    [
      comment(source),
      ...(variables.length === 0 ? [] : [comment(`reads ${variables.join(", ")}`)]),
      laidOut(result, "alone"),
    ],
  ];
  const { text } = printModule({ path: "", header: [], body: join(body, "\n\n"), declared: [] });
  return text.trimEnd();
}
