import { mapChildren, type Node } from "../parse/ast.ts";
import { isNegation, joinedBy, opposite, truth, truthOf } from "./connectives.ts";
import type { KindReader, Situation } from "./kind-reader.ts";
import { isBinding, isTransparent } from "./normal-form.ts";

/**
 * Specializes a rule in normal form for items of one kind. A condition on fields of another kind, or its opposite, is
 * not an error but has no effect: it becomes false if `wanted` is true, and true otherwise.
 */
export function specialize(
  node: Node,
  situation: Situation,
  kinds: KindReader,
  wanted = true,
): Node {
  if (kinds.namedBy(node).size === 0) return node;
  const inner = (child: Node, hope = wanted): Node => specialize(child, situation, kinds, hope);
  const presence = kinds.presenceIn(node, situation);
  if (presence !== undefined) return truth(node.span, presence);
  if (isNegation(node)) {
    const [operand = node] = node.args;
    const changed = inner(operand, !wanted);
    return changed === operand ? node : opposite(changed);
  }
  if (node.kind === "logical") {
    const changed = mapChildren(node, (child) => inner(child));
    if (changed === node || changed.kind !== "logical") return node;
    return joinedBy(node.operator, node.span, changed.operands);
  }
  if (node.kind === "conditional") {
    const changed = mapChildren(node, (child) => inner(child));
    if (changed === node || changed.kind !== "conditional") return node;
    const { test, consequent, alternate } = changed;
    const known = truthOf(test);
    if (known !== undefined) return known ? consequent : alternate;
    const isNothing = [consequent, alternate].every((branch) => truthOf(branch) === !wanted);
    return isNothing ? consequent : changed;
  }
  const subject = isTransparent(node) ? node.range : node;
  if (kinds.failsIn(subject, situation)) return truth(node.span, !wanted);
  if (!isTransparent(node)) return node;
  const changed = mapChildren(node, (child) => (child === node.range ? child : inner(child)));
  const [body] = changed.kind === "macro" && changed !== node ? changed.bodies : [];
  const known = body === undefined ? undefined : truthOf(body);
  // The result for zero elements is still open; the value of a binding does not affect a known result.
  return known === !wanted || (known === wanted && isBinding(node))
    ? truth(node.span, known)
    : changed;
}
