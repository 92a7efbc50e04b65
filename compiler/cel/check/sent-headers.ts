import { childrenOf, type Node } from "../parse/ast.ts";
import type { CheckedExpression } from "./checked-expression.ts";

/**
 * Returns the request headers that the value of an expression is built from, in lower case. Headers that only select
 * between values do not count, because the result of a comparison has only two values.
 */
export function sentHeaders(checked: CheckedExpression): readonly string[] {
  const search = (node: Node): readonly string[] => {
    if (checked.typeOf(node).kind === "bool") return [];
    if (node.kind === "conditional") return [node.consequent, node.alternate].flatMap(search);
    return headerOf(node, checked) ?? childrenOf(node).flatMap(search);
  };
  return [...new Set(search(checked.root))];
}

/** Returns the header that a node reads; `undefined` for other nodes. */
function headerOf(node: Node, checked: CheckedExpression): readonly string[] | undefined {
  if (node.kind !== "select" && node.kind !== "index") return undefined;
  if (checked.declarationOf(node.operand)?.path !== "request.headers") return undefined;
  if (node.kind === "select") return [node.field.toLowerCase()];
  const { index } = node;
  const isName = index.kind === "literal" && index.literal.kind === "string";
  return isName ? [index.literal.value.toLowerCase()] : undefined;
}
