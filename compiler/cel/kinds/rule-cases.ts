import type { CheckedExpression } from "../check/checked-expression.ts";
import { mapChildren, type Node } from "../parse/ast.ts";
import { isNegation, joinedBy, opposite, truth, truthOf } from "./connectives.ts";
import { type KindReader, readKinds, type Situation } from "./kind-reader.ts";
import { isBinding, isTransparent, normalForm } from "./normal-form.ts";

/** Effect of a rule on the items of one kind, or on every item. */
export interface NodeCase {
  /** Items that it applies to; `undefined` for every item. */
  readonly situation: Situation | undefined;
  readonly node: Node;
}

/** Effect of a rule on each kind of item, or the reason why there is none. */
export type NodeCases =
  | { readonly kind: "cases"; readonly cases: readonly NodeCase[] }
  /** The rule is true for no item. */
  | { readonly kind: "never" }
  /** A require rule that is true for every item that it applies to. */
  | { readonly kind: "always" }
  /** The normal form is too large. */
  | { readonly kind: "too-large" };

/**
 * Determines the effect of a rule on each kind of item. An allow rule needs no distinction, because it does not allow
 * if it fails. A deny rule denies if it fails, so each of its alternatives is limited to the kinds that it reads. A
 * require rule applies to the kinds for which it can be true, and ignores others.
 */
export function casesOf(
  checked: CheckedExpression,
  action: "allow" | "deny" | "require",
  paths: readonly string[],
): NodeCases {
  const kinds = readKinds(checked, paths);
  const form = normalForm(checked.root, checked, kinds);
  if (form === undefined) return { kind: "too-large" };
  const possible = possibleCases(form, kinds);
  if (possible.length === 0) return { kind: "never" };
  if (action === "allow") return { kind: "cases", cases: [{ situation: undefined, node: form }] };
  const cases = action === "deny" ? denyCases(form, kinds) : requireCases(form, kinds, possible);
  return cases.length === 0 ? { kind: "always" } : { kind: "cases", cases };
}

/** Returns the alternatives of a deny rule, joined by kinds. */
function denyCases(form: Node, kinds: KindReader): readonly NodeCase[] {
  const groups = Map.groupBy(alternativesOf(form), (part) =>
    [...kinds.readBy(part)].sort().join(" "),
  );
  return [...groups.values()].flatMap((parts): readonly NodeCase[] => {
    const node = joinedBy("||", form.span, parts);
    const isOfAll = kinds.readBy(node).size === 0;
    return isOfAll ? [{ situation: undefined, node }] : possibleCases(node, kinds);
  });
}

function requireCases(
  form: Node,
  kinds: KindReader,
  possible: readonly NodeCase[],
): readonly NodeCase[] {
  const open = possible.filter(({ node }) => truthOf(node) !== true);
  const isOfAll =
    possible.some(({ situation }) => situation === undefined) ||
    possible.length === situationsOf(form, kinds).length;
  return isOfAll && open.length > 0 ? [{ situation: undefined, node: form }] : open;
}

/** Returns the kinds of items for which a node can be true, each with the specialized node. */
function possibleCases(node: Node, kinds: KindReader): readonly NodeCase[] {
  const cases = situationsOf(node, kinds).map((situation) => ({
    situation,
    node: specialize(node, situation, kinds),
  }));
  if (cases.every((each) => each.node === node)) return [{ situation: undefined, node }];
  return cases.filter((each) => truthOf(each.node) !== false);
}

/** Returns a situation for each kind that a node uses, and one for all other items. */
function situationsOf(node: Node, kinds: KindReader): readonly Situation[] {
  const named = [...kinds.namedBy(node)].sort();
  const without = (kind: string): readonly string[] => named.filter((each) => each !== kind);
  return [
    ...named.map((kind) => ({ present: [kind], absent: without(kind) })),
    { present: [], absent: named },
  ];
}

/** Returns the operands of `||`, also in the form `!(a && b)`. */
function alternativesOf(node: Node): readonly Node[] {
  if (node.kind === "logical" && node.operator === "||") {
    return node.operands.flatMap(alternativesOf);
  }
  const [inner] = isNegation(node) ? node.args : [];
  if (inner?.kind === "logical" && inner.operator === "&&") {
    return inner.operands.map(opposite).flatMap(alternativesOf);
  }
  if (inner !== undefined && isNegation(inner)) return inner.args.flatMap(alternativesOf);
  return [node];
}

/**
 * Specializes a rule in normal form for items of one kind. A condition on fields of another kind, or its opposite, is
 * not an error but has no effect: it becomes false if `wanted` is true, and true otherwise.
 */
function specialize(node: Node, situation: Situation, kinds: KindReader, wanted = true): Node {
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
