import type { CheckedExpression } from "../check/checked-expression.ts";
import { type CallNode, childrenOf, type MacroNode, mapChildren, type Node } from "../parse/ast.ts";
import { isNegation, joinedBy, opposite, truthOf } from "./connectives.ts";
import type { KindReader } from "./kind-reader.ts";

/** More parts than this are not spelled out. */
const MAX_PARTS = 10_000;

/**
 * A rule in which what reads the fields of an item stands below `&&`, `||` and `!` only, so that it can be left out for
 * items of other kinds wherever it stands. Parts that read none stay as they are. Undefined when the form is too long.
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

  /** `f(a ? b : c)` is `a ? f(b) : f(c)`, where the choice reads fields of an item. */
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
 * `test ? a : b` for a test of an item of another kind, which is neither true nor false: it is what both branches agree
 * on. So `test ? true : b` is `test || b`, as it is for a test that holds or does not.
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

/** `a == b` of bools as what it says: both or neither. Undefined for another call. */
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

/** Whether a node is a bool whatever it reads, unless it fails. The checker knows no parts that were put together here. */
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

/** Whether what a macro gives is what its expression is, or what it is for some element or all of them. */
export function isTransparent(node: Node): node is MacroNode {
  return node.kind === "macro" && (QUANTIFIERS.has(node.macro) || isBinding(node));
}

/** Whether a macro gives what its one expression is. */
export function isBinding(node: MacroNode): boolean {
  return BINDINGS.has(node.macro);
}

/** How many parts a node has, those that stand in several places counted in each. */
function sizeOf(node: Node, known: Map<Node, number>): number {
  const found = known.get(node);
  if (found !== undefined) return found;
  const size = childrenOf(node).reduce((sum, child) => sum + sizeOf(child, known), 1);
  known.set(node, size);
  return size;
}
