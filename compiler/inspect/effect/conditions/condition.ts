import { inlineBindings } from "../../../cel/kinds/inline-bindings.ts";
import { childrenOf, type MacroNode, mapChildren, type Node } from "../../../cel/parse/ast.ts";
import { canonicalText } from "../../../cel/parse/canonical-text.ts";
import { parseExpression } from "../../../cel/parse/parse.ts";
import { Problems } from "../../../cel/parse/problems.ts";
import { type DataPath, kindOfPath, pathAskedFor, pathKey } from "../data/data-path.ts";
import type { Work } from "../work/work.ts";
import { type LeafShape, leafShape } from "./leaf-features.ts";

/** What a condition is: true, false, or a failure. */
export type Truth = "true" | "false" | "error";

/** A condition as the bools that it is made of. */
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
  /** It reads nothing: it is the same for every request. */
  | { readonly kind: "constant"; readonly text: string };

/** A condition over one value: run on one of each class of its values, and never interpreted. */
export interface LeafCondition extends LeafShape {
  readonly kind: "leaf";
  readonly path: DataPath;
  /** As it is written in canonical form. */
  readonly text: string;
}

/** A condition over several values, or one that classes of values do not capture: known by its text alone. */
export interface OpaqueCondition {
  readonly kind: "opaque";
  readonly text: string;
  readonly reads: readonly DataPath[];
}

/** An expression as a condition. Bindings in one another may make it exponentially larger than its text is. */
export function conditionOf(root: Node, work: Work): RuleCondition {
  const inlined = inlineBindings(root, () => true);
  work.spend(STEPS_OF_NODE * treeSize(inlined));
  return partOf(inlined, work);
}

/** The condition that a text is, which is an expression without a mistake. */
export function conditionIn(text: string, work: Work): RuleCondition {
  const root = parseExpression(text, new Problems());
  if (root === undefined) throw new Error(`no expression: ${text}`);
  return conditionOf(root, work);
}

/** A node of an expression is looked at several times on its way to a condition. */
const STEPS_OF_NODE = 40;

/** The nodes of an expression, counted as often as it says them: the value of a binding is one node in many places. */
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

/** The conditions that a condition is made of. */
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

/** `["a", "b"].exists(x, ...)` is `... || ...`. */
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

/** The expression with a constant in the place of a variable. */
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
  if (shape === undefined || !isToldApart(path, shape)) return { kind: "opaque", text, reads };
  return { kind: "leaf", path, text, ...shape };
}

/** Whether classes of the values at a path can tell what a condition does. */
function isToldApart(path: DataPath, { form, features }: LeafShape): boolean {
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

/** Every path that an expression reads, each once, without the variables of its macros. */
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
