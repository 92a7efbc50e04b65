import { type CelPhase, type CelSlot, compileExpression } from "../../cel/compile.ts";
import { addProblems } from "../../cel/parse/problems.ts";
import type { Diagnostics, Origin, Place } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../model/expressions.ts";

/** An expression as configured, and where. */
export interface ExpressionConfig {
  readonly text: string;
  readonly origin: Origin;
}

/** What the result of an expression has to be. */
export interface ExpectedResult {
  /** In words: `a text`. */
  readonly expected: string;
  /** Whether values of a type may be that: `string`, `map(string, dyn)`. */
  readonly isOfType: (type: string) => boolean;
  /** Whether a text, number or bool is; asked of constants. Absent: any of its type. */
  readonly isGood?: (value: unknown) => boolean;
}

/** Whether the result may be what is expected, as far as that is known before there is a request; else it is reported. */
export function checkResult(
  { type, code }: CompiledExpression,
  { expected, isOfType, isGood = () => true }: ExpectedResult,
  origin: Origin,
  diagnostics: Diagnostics,
): boolean {
  const isKnown = code.kind === "value";
  if (type === "dyn" || (isOfType(type) && (!isKnown || isGood(code.value)))) return true;
  const is = isKnown ? JSON.stringify(code.value) : `of type ${type}`;
  reportWrongResult(origin, expected, is, diagnostics);
  return false;
}

/** Reports what an expression, or a part of it, comes to that is something else than is expected. */
export function reportWrongResult(
  at: Place,
  expected: string,
  is: string,
  diagnostics: Diagnostics,
): void {
  diagnostics.report("cel-wrong-result", at, { expected, is });
}

/** Compiles an expression; undefined when it is wrong (reported). */
export function resolveExpression(
  { text, origin }: ExpressionConfig,
  options: { readonly phase: CelPhase; readonly slot: CelSlot },
  diagnostics: Diagnostics,
): CompiledExpression | undefined {
  const { expression, problems } = compileExpression(text, options);
  addProblems(problems, origin, diagnostics);
  if (expression?.reads.some(([root, part]) => root === "llm" && part === "completion") !== true) {
    return expression;
  }
  diagnostics.report("completion-not-kept", origin, {});
  return undefined;
}
