import { RE2JS, RE2JSSyntaxException } from "re2js";
import { BoundedResults } from "../bounded-results.ts";
import type { Span } from "../parse/ast.ts";
import { type CelProblem, Problems } from "../parse/problems.ts";
import { errorSpan } from "./pattern-scan.ts";

/** Maximum size of a compiled pattern: the time of a match is proportional to it and to the length of the string. */
const MAX_PROGRAM = 1_000;

/** Cache of mistakes by pattern: a route has up to two thousand, and each takes milliseconds in every compilation. */
const cache = new BoundedResults<readonly CelProblem[]>();

/** Returns the mistakes of a pattern: at most one, because parsing stops at the first. */
export function checkPattern(pattern: string): readonly CelProblem[] {
  return cache.of(pattern, () => problemsOf(pattern));
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
