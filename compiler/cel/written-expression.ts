import { functionNamed } from "./functions/index.ts";
import { childrenOf, type Node } from "./parse/ast.ts";
import { parseExpression } from "./parse/parse.ts";
import { Problems } from "./parse/problems.ts";
import { type CelPhase, phaseEnvironment } from "./variables/variables.ts";

/**
 * Whether a string is meant as an expression in a field that takes plain text as well: it is valid CEL with a quoted
 * string, a field of a variable of the phase, or a function. `text/html` and `no-store` are valid CEL too, but have
 * none of these.
 */
export function isWrittenExpression(text: string, phase: CelPhase): boolean {
  const root = parseExpression(text, new Problems());
  return root !== undefined && hasMeaning(root, phase);
}

function hasMeaning(node: Node, phase: CelPhase): boolean {
  if (node.kind === "literal") return node.literal.kind === "string";
  if (node.kind === "call" && functionNamed(node.name) !== undefined) return true;
  const isPart = node.kind === "select" || node.kind === "index";
  if (isPart && node.operand.kind === "name")
    return phaseEnvironment(phase).declarations.has(node.operand.name);
  return childrenOf(node).some((child) => hasMeaning(child, phase));
}
