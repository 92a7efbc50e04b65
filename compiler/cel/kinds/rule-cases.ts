import type { CheckedExpression } from "../check/checked-expression.ts";
import type { Node } from "../parse/ast.ts";
import { isNegation, joinedBy, opposite, truthOf } from "./connectives.ts";
import { type KindReader, readKinds, type Situation } from "./kind-reader.ts";
import { normalForm } from "./normal-form.ts";
import { specialize } from "./specialize.ts";

/** What a rule says of the items of one kind, or of every item. */
export interface NodeCase {
  /** Of which items; undefined for every one. */
  readonly situation: Situation | undefined;
  readonly node: Node;
}

/** What a rule says of each kind of item, or why that is nothing. */
export type NodeCases =
  | { readonly kind: "cases"; readonly cases: readonly NodeCase[] }
  /** It is true of no item. */
  | { readonly kind: "never" }
  /** A require rule that is true of every item that it is about. */
  | { readonly kind: "always" }
  /** It takes too much to say. */
  | { readonly kind: "too-large" };

/**
 * What a rule says of each kind of item. An allow rule needs no difference: what fails does not allow. A deny rule
 * denies where it fails, so each of its alternatives is held against the kinds that it reads. A require rule is about
 * the kinds under which it can be true, and says nothing of others.
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

/** The alternatives of a deny rule, joined where they are about the same kinds. */
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

/** The kinds of items under which a node can be true, each with what the node says of them. */
function possibleCases(node: Node, kinds: KindReader): readonly NodeCase[] {
  const cases = situationsOf(node, kinds).map((situation) => ({
    situation,
    node: specialize(node, situation, kinds),
  }));
  if (cases.every((each) => each.node === node)) return [{ situation: undefined, node }];
  return cases.filter((each) => truthOf(each.node) !== false);
}

/** One situation for each kind that a node names, and one for all other items. */
function situationsOf(node: Node, kinds: KindReader): readonly Situation[] {
  const named = [...kinds.namedBy(node)].sort();
  const without = (kind: string): readonly string[] => named.filter((each) => each !== kind);
  return [
    ...named.map((kind) => ({ present: [kind], absent: without(kind) })),
    { present: [], absent: named },
  ];
}

/** What `||` joins, also as `!(a && b)`. */
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
