import { type CelPhase, type CelSlot, compileExpression } from "../../cel/compile.ts";
import { addProblems } from "../../cel/parse/problems.ts";
import type { Diagnostics, Origin, Place } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../model/expressions.ts";

/** An expression as configured, with its location. */
export interface ExpressionConfig {
  readonly text: string;
  readonly origin: Origin;
}

/** Requirements on the result of an expression. */
export interface ExpectedResult {
  /** Description: `a string`. */
  readonly expected: string;
  /** Whether values of a type can be valid, such as `string` or `map(string, dyn)`. */
  readonly isOfType: (type: string) => boolean;
  /** Whether a constant string, number or bool is valid. Absent if all values of its type are. */
  readonly isGood?: (value: unknown) => boolean;
}

/** Whether the result can be as expected, as far as this is known at build time; otherwise reports it. */
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

/** Reports an expression, or a part of it, with another result than expected. */
export function reportWrongResult(
  at: Place,
  expected: string,
  is: string,
  diagnostics: Diagnostics,
): void {
  diagnostics.report("cel-wrong-result", at, { expected, is });
}

/** Compiles an expression; returns `undefined` if it is invalid (reported). */
export function resolveExpression(
  { text, origin }: ExpressionConfig,
  options: { readonly phase: CelPhase; readonly slot: CelSlot },
  diagnostics: Diagnostics,
): CompiledExpression | undefined {
  const { expression, problems } = compileExpression(text, options);
  addProblems(problems, origin, diagnostics);
  return expression;
}
