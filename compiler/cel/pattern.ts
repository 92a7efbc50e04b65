import type { ExpressionCode } from "../ir.ts";
import { LEVEL, type Level, stringLiteral } from "./code.ts";
import type { CelProblem } from "./problems.ts";

/** Where a pattern must match: the whole text, or anywhere in it. */
export type PatternMatch = "full" | "search";

/** The code of a pattern, and how strongly it binds. */
export interface PatternCode extends ExpressionCode {
  readonly level: Level;
}

/**
 * Compiles an RE2 pattern to a TypeScript expression that is true when it matches `subject` (an expression of type
 * string, written once or twice). Mistakes carry offsets in the pattern.
 */
export function compilePattern(
  pattern: string,
  options: { readonly subject: string; readonly match: PatternMatch },
): { readonly code: PatternCode | undefined; readonly problems: readonly CelProblem[] } {
  const helper = options.match === "full" ? "matchesWhole" : "matchesPart";
  const imports = [{ module: "gwc/runtime/cel/pattern", name: "compilePattern" }];
  const text = `compilePattern(${stringLiteral(pattern)})`;
  return {
    code: {
      text: `${helper}(pattern, ${options.subject})`,
      level: LEVEL.primary,
      imports: [{ module: "gwc/runtime/cel/pattern", name: helper }],
      constants: [{ name: "pattern", text, imports }],
    },
    problems: [],
  };
}
