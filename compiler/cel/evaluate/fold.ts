import type { CheckedExpression } from "../check/checked-expression.ts";
import { childrenOf, type LiteralValue, type Node } from "../parse/ast.ts";
import type { Problems } from "../parse/problems.ts";
import { type Cost, costOf, costOfValue } from "./cost.ts";
import { doubleOf, kindOf, numberOf } from "./run-code.ts";

/** What is known at build about the parts of an expression that read nothing. */
export interface Constants {
  /** The constant that a node always evaluates to, when it has the form of a literal. */
  literalOf(node: Node): LiteralValue | undefined;
  /** Whether a node always evaluates to one value that is no literal: a list, a duration, a network. */
  isConstant(node: Node): boolean;
}

/** Longer texts stay as they are written. */
const MAX_TEXT = 1_000;
/** More elements or bodies than this are not evaluated at build. */
const MAX_NODES = 2_000;
/** How many failing parts of an expression are evaluated again to find the one inside that fails. */
const MAX_EVALUATIONS = 10;
/** Characters and items that a constant may take to evaluate. */
const MAX_COST = 1_000_000;

/**
 * Evaluates the closed parts of an expression with the code that they would become. A part that always fails is
 * reported, unless something around it makes up for it: `||`, a branch, `default`.
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
   * Whether a closed node may be evaluated. What its text alone makes look too costly is judged again by what its parts
   * are; what is too costly then is reported once.
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

  /** Whether evaluating the node always fails. */
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

/** The nodes that read no variable from outside themselves and always give the same. */
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
    // nested macros multiply their work
    if (node.kind === "macro" && depth > 0) free.add("");
    if (free.size === 0) closed.add(node);
    return free;
  };
  visit(checked.root, [], 0);
  return count > MAX_NODES ? new Set() : closed;
}

/** Whether a node itself depends on the request, or on chance. */
function isOpen(checked: CheckedExpression, node: Node): boolean {
  if (checked.isMistake(node)) return true;
  if (checked.typeNameOf(node) !== undefined) return false;
  if (node.kind === "name" || checked.declarationOf(node) !== undefined) return true;
  return node.kind === "call" && (checked.callOf(node)?.declaration.isImpure ?? false);
}

/** Whether an error of a child may be no error of the node. */
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

/** What fails, as far as the function tells. */
function describeFailure(checked: CheckedExpression, node: Node): string {
  if (node.kind === "index" || node.kind === "select") return "this key or index does not exist";
  if (node.kind === "map") return "a key comes twice in this map, or is of a type that no key has";
  if (node.kind !== "call") return "this always fails";
  const isZero = node.args[1]?.kind === "literal" && isZeroLiteral(node.args[1].literal);
  if ((node.name === "/" || node.name === "%") && isZero) return "this is divided by zero";
  if (/^[-+*/%]$/.test(node.name)) return "the result does not fit into 64 bits";
  const name = checked.callOf(node)?.declaration.name ?? node.name;
  return `${name}() fails with this constant`;
}

function isZeroLiteral(literal: LiteralValue): boolean {
  return (literal.kind === "int" || literal.kind === "uint") && literal.value === 0n;
}
