import type { CallNode, Node, Span } from "../parse/ast.ts";

/** Creates a bool literal. */
export function truth(span: Span, value: boolean): Node {
  return { kind: "literal", span, literal: { kind: "bool", value } };
}

/** Returns the value of a bool literal; `undefined` for other nodes. */
export function truthOf(node: Node): boolean | undefined {
  return node.kind === "literal" && node.literal.kind === "bool" ? node.literal.value : undefined;
}

/** Joins bools with `&&` or `||`; literals are omitted, or decide. */
export function joinedBy(operator: "&&" | "||", span: Span, operands: readonly Node[]): Node {
  const neutral = operator === "&&";
  if (operands.some((operand) => truthOf(operand) === !neutral)) return truth(span, !neutral);
  const open = operands.filter((operand) => truthOf(operand) !== neutral);
  const [only] = open;
  if (only === undefined) return truth(span, neutral);
  return open.length === 1 ? only : { kind: "logical", span, operator, operands: open };
}

/** Returns the opposite of a bool. */
export function opposite(node: Node): Node {
  const known = truthOf(node);
  if (known !== undefined) return truth(node.span, !known);
  if (isNegation(node)) return node.args[0] ?? node;
  const { span } = node;
  return { kind: "call", span, name: "!", nameSpan: span, isMethod: false, args: [node] };
}

/** Whether a node is `!a`. */
export function isNegation(node: Node): node is CallNode {
  return node.kind === "call" && node.name === "!" && node.args.length === 1;
}
