import type { Span } from "./ast.ts";

/** What has brackets of its own: strings and comments, and the parentheses to count. */
const BRACKETS = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*|[()]/g;

/** The parentheses of an expression, read once. */
export class Parentheses {
  readonly #marks: readonly { readonly at: number; readonly isOpening: boolean }[];

  constructor(text: string) {
    this.#marks = [...text.matchAll(BRACKETS)].flatMap(({ 0: found, index }) =>
      found === "(" || found === ")" ? [{ at: index, isOpening: found === "(" }] : [],
    );
  }

  /** The parser leaves the parentheses around the first and the last operand out: this takes them in. */
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

  /** The first parenthesis at an offset or after it. */
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

/** Where the operator stands between its operands; parentheses and comments may stand there, too. */
export function operatorSpan(text: string, from: number, to: number, operator: string): Span {
  const at = text.indexOf(operator, from);
  return at >= from && at < to ? [at, at + operator.length] : [from, to];
}
