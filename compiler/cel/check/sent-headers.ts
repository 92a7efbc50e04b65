import { childrenOf, type Node } from "../parse/ast.ts";
import type { CheckedExpression } from "./checked-expression.ts";

/**
 * The headers of a request of which the value of an expression is made, in lower case. What only decides between values
 * is none of them: a bool, whatever is compared there, has two.
 */
export function sentHeaders(checked: CheckedExpression): readonly string[] {
  const search = (node: Node): readonly string[] => {
    if (checked.typeOf(node).kind === "bool") return [];
    if (node.kind === "conditional") return [node.consequent, node.alternate].flatMap(search);
    return headerOf(node, checked) ?? childrenOf(node).flatMap(search);
  };
  return [...new Set(search(checked.root))];
}

/** The header that a node reads; undefined for other nodes. */
function headerOf(node: Node, checked: CheckedExpression): readonly string[] | undefined {
  if (node.kind !== "select" && node.kind !== "index") return undefined;
  if (checked.declarationOf(node.operand)?.path !== "request.headers") return undefined;
  if (node.kind === "select") return [node.field.toLowerCase()];
  const { index } = node;
  const isName = index.kind === "literal" && index.literal.kind === "string";
  return isName ? [index.literal.value.toLowerCase()] : undefined;
}
