import { childrenOf, dottedName, type Node, type Span } from "../parse/ast.ts";
import { parseExpression } from "../parse/parse.ts";
import { Problems } from "../parse/problems.ts";
import { type CelPhase, itemKinds } from "../variables/variables.ts";
import { inlineBindings } from "./inline-bindings.ts";
import { namesKind } from "./kind-reader.ts";

/** A string that an expression compares with a field of an item. */
export interface ComparedName {
  /** Path of the field: `mcp.tool.name`. */
  readonly path: string;
  readonly text: string;
  /** Comparison: `math_` in `startsWith` is the beginning of names. */
  readonly comparison: "equal" | "begins";
  /** Place of the string in the expression. */
  readonly within: Span;
}

/** Returns the strings that an expression compares with fields of items, in order. */
export function comparedNames(expression: string, phase: CelPhase): readonly ComparedName[] {
  const kinds = itemKinds(phase);
  const root = parseExpression(expression, new Problems());
  if (root === undefined || !namesKind(root, kinds)) return [];
  const found = new Map<Node, ComparedName>();
  const seen = new Set<Node>();
  const search = (node: Node): void => {
    if (seen.has(node)) return;
    seen.add(node);
    for (const [literal, name] of comparisonsIn(node, kinds)) found.set(literal, name);
    for (const child of childrenOf(node)) search(child);
  };
  search(inlineBindings(root, (value) => namesKind(value, kinds)));
  return [...found.values()].sort((a, b) => a.within[0] - b.within[0]);
}

function comparisonsIn(
  node: Node,
  kinds: readonly string[],
): readonly (readonly [Node, ComparedName])[] {
  if (node.kind !== "call") return [];
  const [left, right] = node.args;
  if (left === undefined || right === undefined) return [];
  const comparison = node.name === "startsWith" ? "begins" : "equal";
  const named = (subject: Node, ...texts: readonly Node[]) => {
    const path = dottedName(subject);
    if (path === undefined || !kinds.some((kind) => path.startsWith(`${kind}.`))) return [];
    return texts.flatMap((each): (readonly [Node, ComparedName])[] => {
      if (each.kind !== "literal" || each.literal.kind !== "string") return [];
      const text = each.literal.value;
      return [[each, { path, text, comparison, within: each.span }]];
    });
  };
  switch (node.name) {
    case "==":
    case "!=":
      return [...named(left, right), ...named(right, left)];
    case "in":
      return right.kind === "list" ? named(left, ...right.elements) : [];
    case "startsWith":
      return named(left, right);
    default:
      return [];
  }
}
