import { RE2JS, RE2JSSyntaxException } from "re2js";
import { BoundedResults } from "../bounded-results.ts";
import type { Span } from "../parse/ast.ts";
import { type CelProblem, Problems } from "../parse/problems.ts";
import { errorSpan } from "./pattern-scan.ts";

/** The largest program that a pattern may compile to: matching takes time in proportion to it, times the text. */
const MAX_PROGRAM = 1_000;

/** Verdicts on patterns: a route has up to two thousand, and each takes milliseconds in every compilation. */
const verdicts = new BoundedResults<readonly CelProblem[]>();

/** What is wrong with a pattern: at most one problem, for reading stops at the first. */
export function checkPattern(pattern: string): readonly CelProblem[] {
  return verdicts.of(pattern, () => problemsOf(pattern));
}

function problemsOf(pattern: string): readonly CelProblem[] {
  const problems = new Problems();
  try {
    const size = RE2JS.compile(pattern).programSize();
    if (size > MAX_PROGRAM) {
      problems.report("cel-pattern-size", [0, pattern.length], { limit: MAX_PROGRAM });
    }
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) {
      problems.report("cel-pattern-size", [0, pattern.length], { limit: MAX_PROGRAM });
      return problems.list;
    }
    const span: Span = errorSpan(pattern, error.error, error.input ?? "");
    problems.report("cel-pattern", span, { problem: error.error });
  }
  return problems.list;
}
