import type { CheckedExpression } from "../check/checked-expression.ts";
import { childrenOf, dottedName, type Node } from "../parse/ast.ts";

/**
 * Kinds of an item that are known to be present or absent, by path: `mcp.tool`. At most one is present. Kinds of a
 * phase that an expression does not use are all absent.
 */
export interface Situation {
  readonly present: readonly string[];
  readonly absent: readonly string[];
}

/** Determines the kinds of items that parts of an expression depend on. */
export interface KindReader {
  /** Returns the kinds without which a part may fail, because it reads their fields. */
  readBy(node: Node): ReadonlySet<string>;
  /** Returns the kinds that a part reads or tests for: `has(mcp.tool)`. */
  namedBy(node: Node): ReadonlySet<string>;
  /** Whether a part fails because a kind is absent, whatever the rest of the request is. */
  failsIn(node: Node, situation: Situation): boolean;
  /** Returns the value of `has(mcp.tool)`; `undefined` for other nodes, or if it is not known. */
  presenceIn(node: Node, situation: Situation): boolean | undefined;
}

/** Whether an expression uses one of the kinds, without checking it. */
export function namesKind(root: Node, kinds: readonly string[]): boolean {
  const seen = new Set<Node>();
  const search = (node: Node): boolean => {
    if (seen.has(node)) return false;
    seen.add(node);
    const isPath = node.kind === "select" || node.kind === "presence";
    const owner = isPath ? dottedName(node.operand) : undefined;
    if (isPath && owner !== undefined && kindIn(`${owner}.${node.field}`, kinds)) return true;
    return childrenOf(node).some(search);
  };
  return search(root);
}

/** Returns a reader for a checked expression. */
export function readKinds(checked: CheckedExpression, kinds: readonly string[]): KindReader {
  const reads = new Map<Node, ReadonlySet<string>>();
  const names = new Map<Node, ReadonlySet<string>>();

  const kindOf = (node: Node): string | undefined =>
    kindIn(checked.declarationOf(node)?.path ?? "", kinds);

  const readBy = (node: Node): ReadonlySet<string> => {
    const known = reads.get(node);
    if (known !== undefined) return known;
    const kind = kindOf(node);
    const found =
      kind === undefined
        ? new Set(childrenOf(node).flatMap((child) => [...readBy(child)]))
        : new Set(asks(node) ? [] : [kind]);
    reads.set(node, found);
    return found;
  };

  const namedBy = (node: Node): ReadonlySet<string> => {
    const known = names.get(node);
    if (known !== undefined) return known;
    const found = new Set([
      ...[kindOf(node)].filter((kind) => kind !== undefined),
      ...childrenOf(node).flatMap((child) => [...namedBy(child)]),
    ]);
    names.set(node, found);
    return found;
  };

  const failsIn = (node: Node, situation: Situation): boolean => {
    if (readBy(node).size === 0) return false;
    const kind = kindOf(node);
    if (kind !== undefined) return situation.absent.includes(kind);
    const fails = (each: Node): boolean => failsIn(each, situation);
    switch (node.kind) {
      case "logical":
        return node.operands.every(fails);
      case "conditional":
        return fails(node.test) || (fails(node.consequent) && fails(node.alternate));
      case "call":
        return checked.callOf(node)?.declaration.isLazy === true
          ? node.args.every(fails)
          : node.args.some(fails);
      default:
        return childrenOf(node).some(fails);
    }
  };

  const presenceIn = (node: Node, { present, absent }: Situation): boolean | undefined => {
    const kind = node.kind === "presence" ? kindOf(node) : undefined;
    if (kind === undefined) return undefined;
    if (absent.includes(kind)) return false;
    return present.includes(kind) ? true : undefined;
  };

  return { readBy, namedBy, failsIn, presenceIn };
}

/** Whether a selection of a kind's field tests for the kind and does not fail without it. */
function asks(node: Node): boolean {
  return node.kind === "presence" || (node.kind === "select" && node.isOptional);
}

/** Returns the kind that a path belongs to: `mcp.tool` for `mcp.tool.name`. */
function kindIn(path: string, kinds: readonly string[]): string | undefined {
  return kinds.find((kind) => path === kind || path.startsWith(`${kind}.`));
}
