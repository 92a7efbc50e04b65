import { inlineBindings } from "../../../cel/kinds/inline-bindings.ts";
import { childrenOf, type MacroNode, mapChildren, type Node } from "../../../cel/parse/ast.ts";
import { canonicalText } from "../../../cel/parse/canonical-text.ts";
import { parseExpression } from "../../../cel/parse/parse.ts";
import { Problems } from "../../../cel/parse/problems.ts";
import { type DataPath, kindOfPath, pathAskedFor, pathKey } from "../data/data-path.ts";
import type { Work } from "../work/work.ts";
import { type LeafShape, leafShape } from "./leaf-features.ts";

/** Result of a condition: true, false, or an error. */
export type Truth = "true" | "false" | "error";

/** A condition, decomposed into its boolean parts. */
export type RuleCondition =
  | { readonly kind: "and" | "or"; readonly parts: readonly RuleCondition[] }
  | { readonly kind: "not"; readonly of: RuleCondition }
  | {
      readonly kind: "if";
      readonly test: RuleCondition;
      readonly yes: RuleCondition;
      readonly no: RuleCondition;
    }
  | LeafCondition
  | OpaqueCondition
  /** A condition that reads nothing, so that it is the same for every request. */
  | { readonly kind: "constant"; readonly text: string };

/** A condition over one value. It is run on an example of each class of values, never interpreted. */
export interface LeafCondition extends LeafShape {
  readonly kind: "leaf";
  readonly path: DataPath;
  /** Source in canonical form. */
  readonly text: string;
}

/** A condition over several values, or one that classes of values do not capture; it is identified by its source only. */
export interface OpaqueCondition {
  readonly kind: "opaque";
  readonly text: string;
  readonly reads: readonly DataPath[];
}

/** Converts an expression to a condition. Nested bindings can make it exponentially larger than its source. */
export function conditionOf(root: Node, work: Work): RuleCondition {
  const inlined = inlineBindings(root, () => true);
  work.spend(STEPS_OF_NODE * treeSize(inlined));
  return partOf(inlined, work);
}

/** Converts a valid expression to a condition. */
export function conditionIn(text: string, work: Work): RuleCondition {
  const root = parseExpression(text, new Problems());
  if (root === undefined) throw new Error(`not an expression: ${text}`);
  return conditionOf(root, work);
}

/** Steps per node of an expression, which is visited several times. */
const STEPS_OF_NODE = 40;

/** Counts the nodes of an expression as a tree: a binding's value is one node that counts in each place. */
function treeSize(root: Node): number {
  const sizes = new Map<Node, number>();
  const sizeOf = (node: Node): number => {
    const known = sizes.get(node);
    if (known !== undefined) return known;
    const size = childrenOf(node).reduce((sum, child) => sum + sizeOf(child), 1);
    sizes.set(node, size);
    return size;
  };
  return sizeOf(root);
}

/** Lists the leaves of a condition. */
export function leavesOf(condition: RuleCondition): readonly (LeafCondition | OpaqueCondition)[] {
  switch (condition.kind) {
    case "and":
    case "or":
      return condition.parts.flatMap(leavesOf);
    case "not":
      return leavesOf(condition.of);
    case "if":
      return [condition.test, condition.yes, condition.no].flatMap(leavesOf);
    case "constant":
      return [];
    case "leaf":
    case "opaque":
      return [condition];
  }
}

function partOf(node: Node, work: Work): RuleCondition {
  const below = (part: Node) => partOf(part, work);
  switch (node.kind) {
    case "logical":
      return { kind: node.operator === "&&" ? "and" : "or", parts: node.operands.map(below) };
    case "conditional": {
      const { test, consequent, alternate } = node;
      return { kind: "if", test: below(test), yes: below(consequent), no: below(alternate) };
    }
    case "call": {
      const [operand] = node.args;
      if (node.name === "!" && operand !== undefined) return { kind: "not", of: below(operand) };
      return leafOf(node);
    }
    case "macro":
      return unrolled(node, work) ?? leafOf(node);
    default:
      return leafOf(node);
  }
}

/** Expands `["a", "b"].exists(x, ...)` to `... || ...`. */
function unrolled(
  { macro, range, variables, bodies }: MacroNode,
  work: Work,
): RuleCondition | undefined {
  const [variable] = variables;
  const [body] = bodies;
  if (macro !== "exists" && macro !== "all") return undefined;
  if (variables.length !== 1 || variable === undefined || body === undefined) return undefined;
  if (range.kind !== "list" || !range.elements.every(({ kind }) => kind === "literal"))
    return undefined;
  work.spend(STEPS_OF_NODE * range.elements.length * treeSize(body));
  const parts = range.elements.map((element) =>
    partOf(substituted(body, variable.name, element), work),
  );
  return { kind: macro === "exists" ? "or" : "and", parts };
}

/** Replaces a variable by a constant. */
function substituted(node: Node, name: string, constant: Node): Node {
  if (node.kind === "name") return node.name === name ? constant : node;
  if (node.kind === "macro" && node.variables.some((each) => each.name === name)) {
    const range = substituted(node.range, name, constant);
    return mapChildren(node, (child) => (child === node.range ? range : child));
  }
  return mapChildren(node, (child) => substituted(child, name, constant));
}

function leafOf(node: Node): RuleCondition {
  const text = canonicalText(node);
  const reads = readsOf(node);
  const [path] = reads;
  if (path === undefined) return { kind: "constant", text };
  const shape = reads.length === 1 ? leafShape(node, path) : undefined;
  if (shape === undefined || !isClassable(path, shape)) return { kind: "opaque", text, reads };
  return { kind: "leaf", path, text, ...shape };
}

/** Whether classes of the values at a path determine the condition. */
function isClassable(path: DataPath, { form, features }: LeafShape): boolean {
  switch (kindOfPath(path)) {
    case undefined:
      return false;
    case "address":
      return [...features.strings.values()].every(({ kind }) => kind === "equals");
    case "json":
      return true;
    case "root":
    case "item":
      return form === "value" && features.sizes.size === 0;
    default:
      return form === "value";
  }
}

/** Lists the distinct paths that an expression reads, except variables of macros. */
function readsOf(root: Node): readonly DataPath[] {
  const found = new Map<string, DataPath>();
  const search = (node: Node, bound: readonly string[]): void => {
    if (node.kind === "name" && bound.includes(node.name)) return;
    const path = pathAskedFor(node);
    const [first = ""] = path ?? [];
    if (path !== undefined && !bound.includes(first)) {
      found.set(pathKey(path), path);
      return;
    }
    const own = node.kind === "macro" ? node.variables.map(({ name }) => name) : [];
    for (const child of childrenOf(node)) {
      const isRange = node.kind === "macro" && child === node.range;
      search(child, isRange ? bound : [...bound, ...own]);
    }
  };
  search(root, []);
  return [...found.values()];
}
