import { RE2JS, RE2JSSyntaxException } from "re2js";
import { BoundedResults } from "../bounded-results.ts";
import type { Span } from "../parse/ast.ts";
import { type CelProblem, Problems } from "../parse/problems.ts";

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

/**
 * Locates a mistake in a pattern. The parser reports the invalid part without its offset, so that part is searched at
 * the start of each token.
 */
function errorSpan(pattern: string, problem: string, found: string): Span {
  if (problem.startsWith("missing closing )")) return unclosedGroup(pattern);
  if (problem.startsWith("unexpected )")) return unopenedGroup(pattern);
  if (found === "") return [Math.max(0, pattern.length - 1), pattern.length];
  for (const { start } of tokensOf(pattern)) {
    if (pattern.startsWith(found, start)) return [start, start + found.length];
  }
  const inside = pattern.indexOf(found);
  return inside < 0 ? [0, pattern.length] : [inside, inside + found.length];
}

interface Token {
  readonly start: number;
  readonly text: string;
}

/** An escape, a quoted part, a class, the start of a group, a repetition, or a character. */
const TOKEN =
  /\\Q[\s\S]*?(?:\\E|$)|\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|[\s\S]|$)|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]?|\(\?P?<[^>]*>|\(\?[\w-]*[:)]?|\{\d+(?:,\d*)?\}|[\s\S]/gu;

function tokensOf(pattern: string): readonly Token[] {
  return [...pattern.matchAll(TOKEN)].map((match) => ({ start: match.index, text: match[0] }));
}

/** Returns the innermost group that is still open at the end. */
function unclosedGroup(pattern: string): Span {
  const open: Token[] = [];
  for (const token of tokensOf(pattern)) {
    if (token.text === ")") open.pop();
    else if (token.text.startsWith("(") && !token.text.endsWith(")")) open.push(token);
  }
  const last = open.at(-1);
  return last === undefined ? [0, pattern.length] : [last.start, last.start + last.text.length];
}

/** Returns the first unmatched `)`. */
function unopenedGroup(pattern: string): Span {
  let depth = 0;
  for (const { start, text } of tokensOf(pattern)) {
    if (text.startsWith("(") && !text.endsWith(")")) depth += 1;
    else if (text === ")" && depth === 0) return [start, start + 1];
    else if (text === ")") depth -= 1;
  }
  return [0, pattern.length];
}
