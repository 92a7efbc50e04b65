import type { CheckedExpression } from "../check/checked-expression.ts";
import { childrenOf, dottedName, type Node } from "../parse/ast.ts";

/**
 * What is known of the kinds of an item, each by the path of its fields: `mcp.tool`. Of these at most one is there.
 * The others of a phase, which an expression does not name, are absent alike.
 */
export interface Situation {
  readonly present: readonly string[];
  readonly absent: readonly string[];
}

/** Tells which kinds of items the parts of an expression are about. */
export interface KindReader {
  /** The kinds without which a part may fail: it reads their fields. */
  readBy(node: Node): ReadonlySet<string>;
  /** The kinds that a part asks for, too: `has(mcp.tool)`. */
  namedBy(node: Node): ReadonlySet<string>;
  /** Whether a part fails for lack of a kind, whatever the rest of the request is. */
  failsIn(node: Node, situation: Situation): boolean;
  /** What `has(mcp.tool)` is; undefined for a node of another form, or where it is not known. */
  presenceIn(node: Node, situation: Situation): boolean | undefined;
}

/** Whether an expression names one of the kinds at all, by its text alone. */
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

/** Reads the kinds of a checked expression. */
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

/** Whether a selection of a kind's field asks for it, and does not fail without it. */
function asks(node: Node): boolean {
  return node.kind === "presence" || (node.kind === "select" && node.isOptional);
}

/** The kind that a path belongs to: `mcp.tool` for `mcp.tool.name`. */
function kindIn(path: string, kinds: readonly string[]): string | undefined {
  return kinds.find((kind) => path === kind || path.startsWith(`${kind}.`));
}
