import { childrenOf, type Node } from "../parse/ast.ts";
import { entriesOf } from "./run-code.ts";

/** Upper bound of the work and result of a part of an expression, in characters and items. */
export interface Cost {
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
export function costOf(
  node: Node,
  known: ReadonlyMap<Node, Cost>,
  bindings: Bindings = new Map(),
): Cost {
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
export function costOfValue(value: unknown): Cost {
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
