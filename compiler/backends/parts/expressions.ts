import { type CelPhase, type CelSlot, compileExpression } from "../../cel/compile.ts";
import { addProblems } from "../../cel/parse/problems.ts";
import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../../model/expressions.ts";

/** An expression as configured, and where. */
export interface ExpressionConfig {
  readonly text: string;
  readonly origin: Origin;
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
