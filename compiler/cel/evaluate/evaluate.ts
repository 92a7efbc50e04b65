import { comment, join } from "../../../templates/code/code.ts";
import { constantsOf, Expressions } from "../../../templates/code/expression.ts";
import { laidOut } from "../../../templates/code/layout.ts";
import { printModule } from "../../../templates/code/print.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { type CelPhase, type CelProblem, compileExpression } from "../compile.ts";
import { variablesFrom } from "./evaluate-data.ts";
import { toJsonValue, writeValue } from "./evaluate-text.ts";
import { functionOf, typeNameOf } from "./run-code.ts";

/** What `gwc eval` finds out about an expression. */
export type Evaluation =
  | {
      readonly kind: "value";
      /** The value as CEL writes it. */
      readonly text: string;
      /** As JSON: bytes are base64, times are text, ints beyond 2^53 are text. */
      readonly json: unknown;
      /** The type, as precise as it is known. */
      readonly type: string;
      readonly expression: CompiledExpression;
      readonly problems: readonly CelProblem[];
    }
  /** Evaluating it is an error: a claim that is not there, a wrong type. */
  | {
      readonly kind: "error";
      readonly expression: CompiledExpression;
      readonly problems: readonly CelProblem[];
    }
  /** It does not compile. */
  | { readonly kind: "invalid"; readonly problems: readonly CelProblem[] };

/**
 * Compiles an expression and runs what it becomes. `data` has the variables as expressions name them:
 * `{"jwt": {"sub": "a"}, "request": {"path": "/", "headers": {"x-id": "1"}}}`; what it leaves out is absent, and a
 * request without data is `GET /`.
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

/** The code that an expression becomes, with what it needs around it: `gwc eval --emit`. */
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
