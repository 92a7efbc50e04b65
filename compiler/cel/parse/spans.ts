import type { Span } from "./ast.ts";

/** What has brackets of its own: strings and comments, and the parentheses to count. */
const BRACKETS = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*|[()]/g;

/** The parser leaves the parentheses around the first and the last operand out: this takes them in. */
export function withParentheses(text: string, [from, to]: Span): Span {
  let [open, unopened] = [0, 0];
  for (const [found] of text.slice(from, to).matchAll(BRACKETS)) {
    if (found === "(") open += 1;
    else if (found === ")" && open > 0) open -= 1;
    else if (found === ")") unopened += 1;
  }
  let [start, end] = [from, to];
  for (; unopened > 0; unopened -= 1) start = text.lastIndexOf("(", start - 1);
  for (; open > 0; open -= 1) end = text.indexOf(")", end) + 1;
  return start < 0 || end <= 0 ? [from, to] : [start, end];
}

/** Where the operator stands between its operands; parentheses and comments may stand there, too. */
export function operatorSpan(text: string, from: number, to: number, operator: string): Span {
  const at = text.indexOf(operator, from);
  return at >= from && at < to ? [at, at + operator.length] : [from, to];
}
