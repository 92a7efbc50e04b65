import { type CallNode, dottedName, type Node } from "../parse/ast.ts";
import type { Checker } from "./checker.ts";

/** A word with `*` at its start or end, as patterns of other tools have it; `*` alone and media ranges are values. */
const WILDCARD = /^(?:\*[\w./:-]*\w[\w./:-]*|[\w./:-]*\w[\w./:-]*\*|\/[\w./:-]*\*)$/;

/**
 * Reports literals that mean something else in other languages: `request.path == "/api/*"` compares with a star, and
 * `jwt.roles.contains("admin")` is an error if the claim is a list.
 */
export function checkLiterals(checker: Checker, node: CallNode): void {
  const [left, right] = node.args;
  if (left === undefined || right === undefined) return;
  if (node.name === "==" || node.name === "!=") {
    checkWildcard(checker, left, right);
    checkWildcard(checker, right, left);
  } else if (node.name === "contains" && node.isMethod)
    checkListOfClaim(checker, left, right, node);
}

function checkWildcard(checker: Checker, value: Node, literal: Node): void {
  if (literal.kind !== "literal" || literal.literal.kind !== "string") return;
  const text = literal.literal.value;
  // Values of headers and claims may contain a star.
  if (checker.nodes.declarationOf(value)?.path === undefined || !WILDCARD.test(text)) return;
  const name = dottedName(value) ?? "value";
  checker.problems.report("cel-literal-star", literal.span, {
    instead: text.endsWith("*")
      ? `${name}.startsWith("${text.slice(0, -1)}")`
      : `${name}.endsWith("${text.slice(1)}")`,
  });
}

/** Notes `contains` on a claim whose name is a plural: identity providers send lists in it. */
function checkListOfClaim(checker: Checker, value: Node, item: Node, node: CallNode): void {
  const name = dottedName(value);
  const isPlural = value.kind === "select" && /[^s]s$/.test(value.field);
  if (!isPlural || name === undefined || item.kind !== "literal") return;
  if (checker.resolved(checker.nodes.typeOf(value)).kind !== "dyn") return;
  if (item.literal.kind !== "string") return;
  checker.problems.report("cel-list-contains", node.span, {
    name,
    instead: `"${item.literal.value}" in ${name}`,
  });
}
