import type { CheckedExpression } from "../check/checked-expression.ts";
import { childrenOf, type LiteralValue, type Node } from "../parse/ast.ts";
import type { Problems } from "../parse/problems.ts";
import { doubleOf, entriesOf, kindOf, numberOf } from "./run-code.ts";

/** Results of evaluating the constant parts of an expression at build time. */
export interface Constants {
  /** Returns the constant result of a node, if it can be written as a literal. */
  literalOf(node: Node): LiteralValue | undefined;
  /** Whether a node always has the same value that cannot be written as a literal: a list, a duration, a network. */
  isConstant(node: Node): boolean;
}

/** Maximum length of a string that becomes a literal. */
const MAX_TEXT = 1_000;
/** Maximum number of elements or bodies that are evaluated at build time. */
const MAX_NODES = 2_000;
/** Maximum number of failing parts that are evaluated again to find the innermost failing one. */
const MAX_EVALUATIONS = 10;
/** Maximum cost of a constant in characters and items. */
const MAX_COST = 1_000_000;

/**
 * Evaluates the constant parts of an expression with their emitted code. Reports a part that always fails, unless an
 * enclosing part handles the error: `||`, a branch, `default`.
 */
export function foldConstants(
  checked: CheckedExpression,
  evaluate: (node: Node) => unknown,
  problems: Problems,
): Constants {
  const literals = new Map<Node, LiteralValue>();
  const constants = new Set<Node>();
  const closed = closedNodes(checked);
  const costs = new Map<Node, Cost>();
  let isTooCostly = false;
  let evaluations = 0;

  /**
   * Whether a constant node may be evaluated. If the estimate is too high, it is repeated with the values of its parts;
   * if it is still too high, that is reported once.
   */
  const isAffordable = (node: Node): boolean => {
    if (costOf(node, costs).total <= MAX_COST) return true;
    for (const child of childrenOf(node)) {
      if (!closed.has(child) || child.kind === "literal" || costs.has(child)) continue;
      if (!isAffordable(child)) return false;
      if (costOf(node, costs).total <= MAX_COST) return true;
      costs.set(child, costOfValue(evaluate(child)));
    }
    if (costOf(node, costs).total <= MAX_COST) return true;
    if (!isTooCostly) problems.report("cel-too-costly", node.span, { limit: MAX_COST });
    isTooCostly = true;
    return false;
  };

  /** Returns whether evaluating the node always fails. */
  const visit = (node: Node, isAbsorbed: boolean): boolean => {
    if (!closed.has(node) || node.kind === "literal") {
      for (const child of childrenOf(node))
        visit(child, isAbsorbed || absorbs(checked, node, child));
      return false;
    }
    if (!isAffordable(node)) return true;
    const value = evaluate(node);
    if (value === undefined) {
      evaluations += 1;
      const isSearched = evaluations < MAX_EVALUATIONS;
      const isBelow =
        isSearched &&
        childrenOf(node)
          .map(
            (child) =>
              closed.has(child) && visit(child, isAbsorbed || absorbs(checked, node, child)),
          )
          .some(Boolean);
      if (!isBelow && !isAbsorbed) {
        const problem = isSearched ? describeFailure(checked, node) : "a part of this always fails";
        problems.report("cel-always-fails", node.span, { problem });
      }
      return true;
    }
    const literal = literalOf(value);
    if (literal === undefined) constants.add(node);
    else literals.set(node, literal);
    return false;
  };
  visit(checked.root, false);
  return {
    literalOf: (node) => literals.get(node),
    isConstant: (node) => constants.has(node),
  };
}

/** Returns the nodes that read no outside variable and always have the same result. */
function closedNodes(checked: CheckedExpression): ReadonlySet<Node> {
  const closed = new Set<Node>();
  let count = 0;
  const visit = (node: Node, bound: readonly string[], depth: number): ReadonlySet<string> => {
    count += 1;
    const free = new Set<string>();
    const inner =
      node.kind === "macro" ? [...bound, ...node.variables.map(({ name }) => name)] : bound;
    for (const child of childrenOf(node)) {
      const isBody = node.kind === "macro" && node.bodies.includes(child);
      for (const name of visit(child, isBody ? inner : bound, depth + (isBody ? 1 : 0))) {
        const isOwn = isBody && node.variables.some((variable) => variable.name === name);
        if (!isOwn) free.add(name);
      }
    }
    if (isOpen(checked, node)) free.add(node.kind === "name" ? node.name : "");
    // Nested macros multiply their work.
    if (node.kind === "macro" && depth > 0) free.add("");
    if (free.size === 0) closed.add(node);
    return free;
  };
  visit(checked.root, [], 0);
  return count > MAX_NODES ? new Set() : closed;
}

/** Whether a node itself depends on the request, or is random. */
function isOpen(checked: CheckedExpression, node: Node): boolean {
  if (checked.isMistake(node)) return true;
  if (checked.typeNameOf(node) !== undefined) return false;
  if (node.kind === "name" || checked.declarationOf(node) !== undefined) return true;
  return node.kind === "call" && (checked.callOf(node)?.declaration.isImpure ?? false);
}

/** Whether a node may succeed although a child fails. */
function absorbs(checked: CheckedExpression, node: Node, child: Node): boolean {
  switch (node.kind) {
    case "logical":
      return true;
    case "conditional":
      return child !== node.test;
    case "macro":
      return child !== node.range;
    case "call":
      return checked.callOf(node)?.declaration.isLazy ?? false;
    default:
      return false;
  }
}

function literalOf(value: unknown): LiteralValue | undefined {
  switch (kindOf(value)) {
    case "null":
      return { kind: "null" };
    case "bool":
      return { kind: "bool", value: value === true };
    case "int":
      return { kind: "int", value: BigInt(numberOf(value) ?? 0) };
    case "uint":
      return { kind: "uint", value: BigInt(numberOf(value) ?? 0) };
    case "double":
      return { kind: "double", value: doubleOf(value) ?? 0 };
    case "string":
      return typeof value === "string" && value.length <= MAX_TEXT
        ? { kind: "string", value }
        : undefined;
    default:
      return undefined;
  }
}

/** Describes why a node fails, as far as the function is known. */
function describeFailure(checked: CheckedExpression, node: Node): string {
  if (node.kind === "index" || node.kind === "select") return "this key or index does not exist";
  if (node.kind === "map") return "this map has a duplicate key, or a key of an invalid type";
  if (node.kind !== "call") return "this always fails";
  const isZero = node.args[1]?.kind === "literal" && isZeroLiteral(node.args[1].literal);
  if ((node.name === "/" || node.name === "%") && isZero) return "this is a division by zero";
  if (/^[-+*/%]$/.test(node.name)) return "the result does not fit into 64 bits";
  const name = checked.callOf(node)?.declaration.name ?? node.name;
  return `${name}() fails with this constant`;
}

function isZeroLiteral(literal: LiteralValue): boolean {
  return (literal.kind === "int" || literal.kind === "uint") && literal.value === 0n;
}

/** Upper bound of the work and result of a part of an expression, in characters and items. */
interface Cost {
  /** Total work, and so the maximum size of the result. */
  readonly total: number;
  /** Number of items that a macro over the result visits. */
  readonly items: number;
  /** Size of the largest item. */
  readonly largest: number;
}

/** Costs of macro variables by name. */
type Bindings = ReadonlyMap<string, Cost>;

/** Calls whose result may be as large as the product of the sizes of their arguments. */
const MULTIPLYING: ReadonlySet<string> = new Set(["replace", "join", "format"]);
/** Operators whose result is at most as large as their operands; other functions may expand a character to eight. */
const OPERATORS = /^\W+$|^in$/;
const MAX_GROWTH = 8;

/** Estimates the cost of an expression without evaluating it; `known` has the costs of evaluated parts. */
function costOf(node: Node, known: ReadonlyMap<Node, Cost>, bindings: Bindings = new Map()): Cost {
  const found = known.get(node);
  if (found !== undefined) return found;
  const costs = (nodes: readonly Node[]) => nodes.map((each) => costOf(each, known, bindings));
  switch (node.kind) {
    case "literal":
      return single(node.literal.kind === "string" ? node.literal.value.length : 1);
    case "name":
      return bindings.get(node.name) ?? single(1);
    case "list": {
      const elements = costs(node.elements);
      const largest = Math.max(1, ...elements.map(({ total }) => total));
      return { total: 1 + sum(elements), items: elements.length, largest };
    }
    case "call": {
      const args = costs(node.args);
      if (MULTIPLYING.has(node.name)) {
        return single(MAX_GROWTH * args.reduce((product, { total }) => product * (total + 1), 1));
      }
      return OPERATORS.test(node.name)
        ? single(1 + sum(args))
        : single(MAX_GROWTH * (1 + sum(args)));
    }
    case "macro": {
      const range = costOf(node.range, known, bindings);
      const isBinding = node.macro === "bind" || node.macro === "with";
      const item = isBinding ? range : single(range.largest);
      const inner = new Map([
        ...bindings,
        ...node.variables.map(({ name }) => [name, item] as const),
      ]);
      const body = sum(node.bodies.map((each) => costOf(each, known, inner)));
      return single(range.total + (isBinding ? 1 : range.items) * (1 + body));
    }
    default:
      return single(1 + sum(costs(childrenOf(node))));
  }
}

/** Returns the cost of an evaluated value. */
function costOfValue(value: unknown): Cost {
  if (typeof value === "string" || value instanceof Uint8Array) return single(value.length);
  const items = Array.isArray(value) ? value : [...(entriesOf(value) ?? [])].flat();
  const sizes = items.map((item) => costOfValue(item).total);
  const total = sizes.reduce((all, size) => all + size, 1);
  return { total, items: sizes.length, largest: sizes.reduce((a, b) => Math.max(a, b), 1) };
}

/** Returns the cost of a value without known parts. */
function single(total: number): Cost {
  return { total: Math.max(1, total), items: Math.max(1, total), largest: Math.max(1, total) };
}

function sum(costs: readonly Cost[]): number {
  return costs.reduce((all, { total }) => all + total, 0);
}
