import { type ExpressionConfig, resolveExpression } from "../backends/parts/expressions.ts";
import { FAILED, tolerated } from "../backends/parts/tolerated-expressions.ts";
import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";

/**
 * Compiles an expression that only affects what is reported about requests; returns `undefined` if it is invalid
 * (reported), so that the field is omitted.
 */
export function resolveLogged(
  config: ExpressionConfig,
  options: Parameters<typeof resolveExpression>[1],
  diagnostics: Diagnostics,
): CompiledExpression | undefined {
  const found = tolerated(config.origin, diagnostics, (own) =>
    resolveExpression(config, options, own),
  );
  return found === FAILED ? undefined : found;
}
