import type { CheckedExpression } from "../check/checked-expression.ts";
import { type CallNode, childrenOf, type MacroNode, mapChildren, type Node } from "../parse/ast.ts";
import { isNegation, joinedBy, opposite, truthOf } from "./connectives.ts";
import type { KindReader } from "./kind-reader.ts";

/** Maximum number of parts of a normal form. */
const MAX_PARTS = 10_000;

/**
 * Returns a rule in which parts that read fields of an item are only below `&&`, `||` and `!`, so that they can be
 * removed for items of other kinds. Other parts are unchanged. `undefined` if the form is too large.
 */
export function normalForm(
  root: Node,
  checked: CheckedExpression,
  kinds: KindReader,
): Node | undefined {
  const done = new Map<Node, Node>();
  let splits = 0;

  const normal = (node: Node): Node => {
    if (kinds.namedBy(node).size === 0) return node;
    const known = done.get(node);
    if (known !== undefined) return known;
    const result = formOf(node);
    done.set(node, result);
    return result;
  };

  const formOf = (node: Node): Node => {
    switch (node.kind) {
      case "logical":
        return mapChildren(node, normal);
      case "conditional": {
        const test = normal(node.test);
        const [consequent, alternate] = [normal(node.consequent), normal(node.alternate)];
        return kinds.readBy(test).size === 0
          ? { ...node, test, consequent, alternate }
          : choice(test, consequent, alternate);
      }
      case "macro": {
        if (!isTransparent(node)) return normalAtom(node);
        return mapChildren(node, (child) => (child === node.range ? child : normal(child)));
      }
      default:
        return isNegation(node) ? mapChildren(node, normal) : normalAtom(node);
    }
  };

  const normalAtom = (node: Node): Node => {
    const equality = node.kind === "call" ? spelledOut(node, checked) : undefined;
    if (equality !== undefined) return normal(equality);
    const found = splits < MAX_PARTS ? split(node) : undefined;
    if (found === undefined) return node;
    splits += 1;
    return normal({ kind: "conditional", span: node.span, ...found });
  };

  /** `f(a ? b : c)` becomes `a ? f(b) : f(c)`, if the choice reads fields of an item. */
  const split = (node: Node): Choice | undefined => {
    if (kinds.readBy(node).size === 0) return undefined;
    if (node.kind === "conditional") return node;
    const isLazy = node.kind === "call" && checked.callOf(node)?.declaration.isLazy === true;
    if (isLazy || node.kind === "logical" || node.kind === "macro") return undefined;
    for (const child of childrenOf(node)) {
      const found = split(child);
      if (found === undefined) continue;
      const put = (other: Node): Node =>
        mapChildren(node, (each) => (each === child ? other : each));
      return {
        test: found.test,
        consequent: put(found.consequent),
        alternate: put(found.alternate),
      };
    }
    return undefined;
  };

  const form = normal(root);
  return splits >= MAX_PARTS || sizeOf(form, new Map()) > MAX_PARTS ? undefined : form;
}

interface Choice {
  readonly test: Node;
  readonly consequent: Node;
  readonly alternate: Node;
}

/**
 * Returns `test ? a : b` for a test that may be about an item of another kind and then is neither true nor false: the
 * result is what both branches have in common. So `test ? true : b` becomes `test || b`, as for an ordinary test.
 */
function choice(test: Node, consequent: Node, alternate: Node): Node {
  const { span } = test;
  if (truthOf(consequent) === true) return joinedBy("||", span, [test, alternate]);
  if (truthOf(alternate) === false) return joinedBy("&&", span, [test, consequent]);
  if (truthOf(consequent) === false) return joinedBy("&&", span, [opposite(test), alternate]);
  if (truthOf(alternate) === true) return joinedBy("||", span, [opposite(test), consequent]);
  return joinedBy("||", span, [
    joinedBy("&&", span, [test, consequent]),
    joinedBy("&&", span, [opposite(test), alternate]),
    joinedBy("&&", span, [consequent, alternate]),
  ]);
}

/** Expands `a == b` of bools: both or neither. `undefined` for other calls. */
function spelledOut(node: CallNode, checked: CheckedExpression): Node | undefined {
  const [left, right] = node.args;
  if (left === undefined || right === undefined) return undefined;
  if (node.name !== "==" && node.name !== "!=") return undefined;
  if (!isBool(left, checked) || !isBool(right, checked)) return undefined;
  const { span } = node;
  const other = node.name === "==" ? right : opposite(right);
  return joinedBy("||", span, [
    joinedBy("&&", span, [left, other]),
    joinedBy("&&", span, [opposite(left), opposite(other)]),
  ]);
}

/** Whether a node is a bool unless it fails. The checker does not know parts that were created here. */
function isBool(node: Node, checked: CheckedExpression): boolean {
  switch (node.kind) {
    case "logical":
      return true;
    case "conditional":
      return isBool(node.consequent, checked) && isBool(node.alternate, checked);
    case "macro":
      if (!isBinding(node)) return checked.typeOf(node).kind === "bool";
      return node.bodies.every((body) => isBool(body, checked));
    default:
      return (
        isNegation(node) || truthOf(node) !== undefined || checked.typeOf(node).kind === "bool"
      );
  }
}

const QUANTIFIERS: ReadonlySet<string> = new Set(["exists", "all"]);
const BINDINGS: ReadonlySet<string> = new Set(["bind", "with"]);

/** Whether the result of a macro is that of its expression, for the bound value, some element or all elements. */
export function isTransparent(node: Node): node is MacroNode {
  return node.kind === "macro" && (QUANTIFIERS.has(node.macro) || isBinding(node));
}

/** Whether the result of a macro is that of its only expression. */
export function isBinding(node: MacroNode): boolean {
  return BINDINGS.has(node.macro);
}

/** Counts the parts of a node; shared parts count in each place. */
function sizeOf(node: Node, known: Map<Node, number>): number {
  const found = known.get(node);
  if (found !== undefined) return found;
  const size = childrenOf(node).reduce((sum, child) => sum + sizeOf(child, known), 1);
  known.set(node, size);
  return size;
}
