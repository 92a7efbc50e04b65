/** Place of a node in the expression: offsets in UTF-16 units, the end exclusive. */
export type Span = readonly [start: number, end: number];

/** A literal; numbers are exact. */
export type LiteralValue =
  | { readonly kind: "null" }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "int"; readonly value: bigint }
  | { readonly kind: "uint"; readonly value: bigint }
  | { readonly kind: "double"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "bytes"; readonly value: Uint8Array };

/** A variable that a macro declares. */
export interface MacroVariable {
  readonly name: string;
  readonly span: Span;
}

/** Macros by their effect; `exists`, `all` and similar ones have one variable or two. */
export type MacroName =
  | "all"
  | "exists"
  | "existsOne"
  | "filter"
  | "map"
  | "transformList"
  | "transformMap"
  | "transformMapEntry"
  | "sortBy"
  | "mapValues"
  | "filterKeys"
  | "with"
  | "bind"
  | "optMap"
  | "optFlatMap";

/** A node of a parsed expression. Macros are nodes and not expanded. */
export type Node =
  | LiteralNode
  | { readonly kind: "name"; readonly span: Span; readonly name: string }
  | {
      readonly kind: "select";
      readonly span: Span;
      readonly operand: Node;
      readonly field: string;
      readonly fieldSpan: Span;
      /** `a.?b`: an optional. */
      readonly isOptional: boolean;
    }
  | {
      readonly kind: "index";
      readonly span: Span;
      readonly operand: Node;
      readonly index: Node;
      /** `a[?b]`: an optional. */
      readonly isOptional: boolean;
    }
  /** `has(operand.field)`. */
  | {
      readonly kind: "presence";
      readonly span: Span;
      readonly operand: Node;
      readonly field: string;
      readonly fieldSpan: Span;
    }
  /** A function, a method (with its receiver as first argument) or an operator (`+`, `==`, `in`, `!`, `-`). */
  | CallNode
  /** `a && b && c`, flattened: a chain is one node, however long. */
  | {
      readonly kind: "logical";
      readonly span: Span;
      readonly operator: "&&" | "||";
      readonly operands: readonly Node[];
    }
  | {
      readonly kind: "conditional";
      readonly span: Span;
      readonly test: Node;
      readonly consequent: Node;
      readonly alternate: Node;
    }
  | { readonly kind: "list"; readonly span: Span; readonly elements: readonly Node[] }
  | {
      readonly kind: "map";
      readonly span: Span;
      readonly entries: readonly { readonly key: Node; readonly value: Node }[];
    }
  | MacroNode;

/** A literal node. */
export interface LiteralNode {
  readonly kind: "literal";
  readonly span: Span;
  readonly literal: LiteralValue;
  /** For a string: the offset of each unit of its value in the expression, and of its end. */
  readonly offsets?: readonly number[];
}

/** A call. `target` distinguishes `a.f(b)` from `f(a, b)`; it is also `args[0]`. */
export interface CallNode {
  readonly kind: "call";
  readonly span: Span;
  readonly name: string;
  readonly nameSpan: Span;
  readonly isMethod: boolean;
  readonly args: readonly Node[];
}

/** A macro: its range or bound value, its variables, and the expressions in their scope. */
export interface MacroNode {
  readonly kind: "macro";
  readonly span: Span;
  readonly macro: MacroName;
  readonly range: Node;
  readonly variables: readonly MacroVariable[];
  readonly bodies: readonly Node[];
}

/** Returns the direct children of a node, in source order. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "literal":
    case "name":
      return [];
    case "select":
    case "presence":
      return [node.operand];
    case "index":
      return [node.operand, node.index];
    case "call":
      return node.args;
    case "logical":
      return node.operands;
    case "conditional":
      return [node.test, node.consequent, node.alternate];
    case "list":
      return node.elements;
    case "map":
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case "macro":
      return [node.range, ...node.bodies];
  }
}

/** Returns the node with changed children, or the node itself if none changes. */
export function mapChildren(node: Node, change: (child: Node) => Node): Node {
  const before = childrenOf(node);
  const after = before.map(change);
  if (before.every((child, at) => child === after[at])) return node;
  const changed = (child: Node): Node => after[before.indexOf(child)] ?? child;
  switch (node.kind) {
    case "literal":
    case "name":
      return node;
    case "select":
    case "presence":
      return { ...node, operand: changed(node.operand) };
    case "index":
      return { ...node, operand: changed(node.operand), index: changed(node.index) };
    case "call":
      return { ...node, args: after };
    case "logical":
      return { ...node, operands: after };
    case "conditional": {
      const { test, consequent, alternate } = node;
      return {
        ...node,
        test: changed(test),
        consequent: changed(consequent),
        alternate: changed(alternate),
      };
    }
    case "list":
      return { ...node, elements: after };
    case "map": {
      const entries = node.entries.map(({ key, value }) => ({
        key: changed(key),
        value: changed(value),
      }));
      return { ...node, entries };
    }
    case "macro":
      return { ...node, range: changed(node.range), bodies: node.bodies.map(changed) };
  }
}

/** Returns `a.b.c` for a chain of selections that starts at a name; `undefined` for other nodes. */
export function dottedName(node: Node): string | undefined {
  if (node.kind === "name") return node.name;
  if (node.kind !== "select") return undefined;
  const before = dottedName(node.operand);
  return before === undefined ? undefined : `${before}.${node.field}`;
}
