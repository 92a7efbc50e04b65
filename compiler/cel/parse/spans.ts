import type { Span } from "./ast.ts";

/** Tokens that matter for parentheses: strings and comments, and the parentheses themselves. */
const BRACKETS = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*|[()]/g;

/** Parentheses of an expression, scanned once. */
export class Parentheses {
  readonly #marks: readonly { readonly at: number; readonly isOpening: boolean }[];

  constructor(text: string) {
    this.#marks = [...text.matchAll(BRACKETS)].flatMap(({ 0: found, index }) =>
      found === "(" || found === ")" ? [{ at: index, isOpening: found === "(" }] : [],
    );
  }

  /** Extends a span to the parentheses around its first and last operand, which the parser omits. */
  around([from, to]: Span): Span {
    const [first, end] = [this.#indexOf(from), this.#indexOf(to)];
    let [open, unopened] = [0, 0];
    for (let at = first; at < end; at += 1) {
      if (this.#marks[at]?.isOpening === true) open += 1;
      else if (open > 0) open -= 1;
      else unopened += 1;
    }
    const start = unopened === 0 ? from : this.#marks[first - unopened]?.at;
    const last = open === 0 ? to - 1 : this.#marks[end + open - 1]?.at;
    return start === undefined || last === undefined ? [from, to] : [start, last + 1];
  }

  /** Returns the first parenthesis at or after an offset. */
  #indexOf(offset: number): number {
    let [low, high] = [0, this.#marks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#marks[middle]?.at ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Returns the place of an operator between its operands, among parentheses and comments. */
export function operatorSpan(text: string, from: number, to: number, operator: string): Span {
  const at = text.indexOf(operator, from);
  return at >= from && at < to ? [at, at + operator.length] : [from, to];
}
