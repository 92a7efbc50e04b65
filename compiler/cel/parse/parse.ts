import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import type { CallNode, LiteralValue, Node, Span } from "./ast.ts";
import { headerViewOf, messageField } from "./header-views.ts";
import { decodeLiteral, isInt64, isUint64, stringOffsets } from "./literals.ts";
import { macroOf } from "./macros.ts";
import { parseProblem } from "./parse-problem.ts";
import type { Problems } from "./problems.ts";
import { syntaxHint } from "./syntax-hint.ts";

/** Maximum length of an expression in UTF-16 units: the limit of CELExpression in the specification. */
export const MAX_LENGTH = 16_384;
/** Maximum nesting depth of an expression. A chain of operators counts once. */
export const MAX_DEPTH = 100;
/**
 * Maximum height of the tree, including long chains of arithmetic operators. Every phase walks it recursively, and code that V8
 * has not optimized yet needs about a kilobyte of stack for a level.
 */
const MAX_HEIGHT = 400;

const grammar = new Environment({
  enableOptionalTypes: true,
  limits: {
    // The parser counts a call and its arguments separately, and gwc reports its own limit.
    maxDepth: 4 * MAX_DEPTH,
    maxAstNodes: MAX_LENGTH,
    maxListElements: MAX_LENGTH,
    maxMapEntries: MAX_LENGTH,
    maxCallArguments: MAX_LENGTH,
  },
});

/** Cache of valid expressions: each is parsed for every use, from its compilation to its comparison. */
const parsed = new Map<string, Node>();

/** Maximum size of the cache: a controller parses expressions for months. */
const MAX_PARSED = 10_000;

/** Parses an expression; reports and returns `undefined` if it is invalid, too long or nested too deeply. */
export function parseExpression(text: string, problems: Problems): Node | undefined {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const node = readExpression(text, problems);
  if (node === undefined) return undefined;
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(text, node);
  return node;
}

function readExpression(text: string, problems: Problems): Node | undefined {
  if (text.length > MAX_LENGTH) {
    problems.report("cel-too-long", [MAX_LENGTH, text.length], { limit: MAX_LENGTH });
    return undefined;
  }
  const source = text.replaceAll(FRACTION, (found) => (found === " " ? "0" : found));
  const tree = parseTree(source, problems);
  if (tree === undefined) return undefined;
  const before = problems.list.length;
  const node = new Converter(source, problems).convert(tree, 0, 0);
  return problems.list.length === before ? node : undefined;
}

/** Strings and comments, and spaces before a number without digits before its point: the parser needs a zero there. */
const FRACTION =
  /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*|(?<=(?:^|[-+*/%<>=!&|?:([{,])\s*) (?=\.\d)/g;

function parseTree(text: string, problems: Problems): ASTNode | undefined {
  try {
    return grammar.parse(text).ast;
  } catch (error) {
    if (error instanceof RangeError) {
      problems.report("cel-too-deep", [0, text.length], { limit: MAX_DEPTH });
      return undefined;
    }
    if (!(error instanceof ParseError)) throw error;
    const range = error.range ?? { start: 0, end: text.length };
    const start = Math.min(range.start, text.length);
    const within: Span = [start, Math.min(Math.max(range.end, start), text.length)];
    reportParseError(error, within, text, problems);
    return undefined;
  }
}

function reportParseError(
  { code, summary }: ParseError,
  within: Span,
  text: string,
  problems: Problems,
): void {
  if (code === "limit_exceeded") {
    problems.report("cel-too-deep", within, { limit: MAX_DEPTH });
  } else if (code === "invalid_integer" && /u$/i.test(text.slice(...within))) {
    problems.report("cel-number-range", within, { type: "uint" });
  } else if (code === "invalid_macro_argument") {
    problems.report("cel-macro-variable", within, {
      macro: /^\w+(?=\()/.exec(summary)?.[0] ?? "bind",
    });
  } else {
    const hint = syntaxHint(text, within);
    const known = hint && { problem: `CEL has no \`${hint.word}\``, advice: hint.advice };
    const found = known ?? parseProblem(summary, text, within);
    problems.report("cel-syntax", hint?.within ?? within, found);
  }
}

/** Operators that form long left-leaning chains, which count once in the depth. */
const CHAINED = new Set(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in"]);

/** Converts the parser's tree to gwc's nodes. */
class Converter {
  readonly #text: string;
  readonly #problems: Problems;
  readonly #parentheses: Parentheses;
  #isTooDeep = false;

  constructor(text: string, problems: Problems) {
    this.#text = text;
    this.#problems = problems;
    this.#parentheses = new Parentheses(text);
  }

  convert(tree: ASTNode, depth: number, height: number): Node {
    const span = this.#parentheses.around([tree.start, tree.end]);
    if (depth >= MAX_DEPTH || height >= MAX_HEIGHT) {
      const limit = depth >= MAX_DEPTH ? MAX_DEPTH : MAX_HEIGHT;
      if (!this.#isTooDeep) this.#problems.report("cel-too-deep", span, { limit });
      this.#isTooDeep = true;
      return { kind: "literal", span, literal: { kind: "null" } };
    }
    const childOf = (child: ASTNode) => this.convert(child, depth + 1, height + 1);
    switch (tree.op) {
      case "value":
        return this.#literal(span, decodeLiteral(this.#text.slice(...span)));
      case "id":
        return { kind: "name", span, name: tree.args };
      case ".":
      case ".?": {
        const [owner, written] = tree.args;
        const fieldSpan: Span = [tree.end - written.length, tree.end];
        const isOptional = tree.op === ".?";
        const operand = childOf(owner);
        const field = messageField(operand, written);
        return { kind: "select", span, operand, field, fieldSpan, isOptional };
      }
      case "[]":
      case "[?]": {
        const [operand, index] = tree.args;
        const isOptional = tree.op === "[?]";
        return {
          kind: "index",
          span,
          operand: childOf(operand),
          index: childOf(index),
          isOptional,
        };
      }
      case "&&":
      case "||":
        return {
          kind: "logical",
          span,
          operator: tree.op,
          operands: chainOf(tree, tree.op).map(childOf),
        };
      case "?:": {
        const [test, consequent, alternate] = tree.args;
        return {
          kind: "conditional",
          span,
          test: childOf(test),
          consequent: childOf(consequent),
          // `a ? b : c ? d : e` is a chain too.
          alternate: this.convert(alternate, depth, height + 1),
        };
      }
      case "list":
        return { kind: "list", span, elements: tree.args.map(childOf) };
      case "map":
        return {
          kind: "map",
          span,
          entries: tree.args.map(([key, value]) => ({ key: childOf(key), value: childOf(value) })),
        };
      case "call": {
        const [name, args] = tree.args;
        return this.#macroOrCall({
          kind: "call",
          span,
          name,
          nameSpan: [tree.start, tree.start + name.length],
          isMethod: false,
          args: args.map(childOf),
        });
      }
      case "rcall": {
        const [name, target, args] = tree.args;
        const open = this.#text.indexOf(name, target.end);
        return this.#macroOrCall({
          kind: "call",
          span,
          name,
          nameSpan: [open, open + name.length],
          isMethod: true,
          args: [childOf(target), ...args.map(childOf)],
        });
      }
      case "!_":
      case "-_":
        return this.#unary(tree.op === "!_" ? "!" : "-", span, tree.args, childOf);
      default:
        return this.#binary(tree, depth, height);
    }
  }

  #literal(span: Span, literal: LiteralValue): Node {
    const isOut =
      (literal.kind === "int" && !isInt64(literal.value)) ||
      (literal.kind === "uint" && !isUint64(literal.value));
    if (isOut) {
      this.#problems.report("cel-number-range", span, { type: literal.kind });
    }
    if (literal.kind !== "string") return { kind: "literal", span, literal };
    const offsets = stringOffsets(this.#text.slice(...span)).map((offset) => offset + span[0]);
    return { kind: "literal", span, literal, offsets };
  }

  #unary(name: "!" | "-", span: Span, operand: ASTNode, childOf: (child: ASTNode) => Node): Node {
    const isSignOfLiteral = name === "-" && operand.op === "value" && operand.start === span[0] + 1;
    if (isSignOfLiteral) {
      const literal = decodeLiteral(this.#text.slice(operand.start, operand.end));
      if (literal.kind === "int" || literal.kind === "double") {
        const negated: LiteralValue =
          literal.kind === "int"
            ? { kind: "int", value: -literal.value }
            : { kind: "double", value: -literal.value };
        return this.#literal(span, negated);
      }
    }
    const nameSpan: Span = [span[0], span[0] + 1];
    return { kind: "call", span, name, nameSpan, isMethod: false, args: [childOf(operand)] };
  }

  #binary(tree: Extract<ASTNode, { op: "+" }> | ASTNode, depth: number, height: number): Node {
    if (!CHAINED.has(tree.op)) throw new Error(`unexpected operator "${tree.op}"`);
    const [left, right] = tree.args as [ASTNode, ASTNode];
    const isChain = CHAINED.has(left.op);
    return {
      kind: "call",
      span: this.#parentheses.around([tree.start, tree.end]),
      name: tree.op,
      nameSpan: operatorSpan(this.#text, left.end, right.start, tree.op),
      isMethod: false,
      args: [
        this.convert(left, isChain ? depth : depth + 1, height + 1),
        this.convert(right, depth + 1, height + 1),
      ],
    };
  }

  #macroOrCall(call: CallNode): Node {
    return macroOf(call, this.#problems) ?? headerViewOf(call) ?? call;
  }
}

/** Returns the operands of a chain of a logical operator, in order; the tree leans to the left. */
function chainOf(tree: ASTNode, operator: "&&" | "||"): readonly ASTNode[] {
  const reversed: ASTNode[] = [];
  let rest = tree;
  while (rest.op === operator) {
    const [left, right] = rest.args as [ASTNode, ASTNode];
    reversed.push(right);
    rest = left;
  }
  reversed.push(rest);
  return reversed.reverse();
}

/** Tokens that matter for parentheses: strings and comments, and the parentheses themselves. */
const BRACKETS = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*|[()]/g;

/** Parentheses of an expression, scanned once. */
class Parentheses {
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
function operatorSpan(text: string, from: number, to: number, operator: string): Span {
  const at = text.indexOf(operator, from);
  return at >= from && at < to ? [at, at + operator.length] : [from, to];
}
