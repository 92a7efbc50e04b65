import type { Span } from "../parse/ast.ts";

/**
 * Locates a mistake in a pattern. The parser reports the invalid part without its offset, so that part is searched at
 * the start of each token.
 */
export function errorSpan(pattern: string, problem: string, found: string): Span {
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
