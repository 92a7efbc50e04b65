import type { Expression, ListExpression } from "./hole.ts";
import { numberText } from "./value-text.ts";

/** Returns whether an expression has a line break at any width. */
export function isAlwaysBroken(node: Expression): boolean {
  return node.kind === "call"
    ? areFunctionsComposed(node.args)
    : node.kind === "list" && isTable(node);
}

/** Returns whether a list contains lists or objects with several items each. */
export function isTable({ items }: ListExpression): boolean {
  return (
    items.length > 1 &&
    (items.every((item) => item.kind === "list" && item.items.length > 1) ||
      items.every((item) => item.kind === "object" && item.entries.length > 1))
  );
}

/** Returns the numbers of a list that contains several numbers and nothing else. */
export function numbersIn({ items }: ListExpression): readonly string[] | undefined {
  const numbers = items.flatMap((item) =>
    item.kind === "value" && typeof item.value === "number" ? [numberText(item.value)] : [],
  );
  return numbers.length === items.length && numbers.length > 1 ? numbers : undefined;
}

/** Returns whether arguments are two functions, or calls with a function: then each is on a line of its own. */
export function areFunctionsComposed(args: readonly Expression[]): boolean {
  const isFunction = ({ kind }: Expression) => kind === "arrow";
  if (args.length < 2) return false;
  return (
    args.filter(isFunction).length > 1 ||
    args.some((arg) => arg.kind === "call" && arg.args.some(isFunction))
  );
}

/** Returns whether the last argument may start on the line of the call and break inside. */
export function isHugged(args: readonly Expression[], last: Expression): boolean {
  if (args.at(-2)?.kind === last.kind) return false;
  switch (last.kind) {
    case "object":
      return last.entries.length > 0;
    case "list":
      return last.items.length > 0 && !(args.length > 1 && numbersIn(last) !== undefined);
    case "arrow":
      return ["call", "conditional", "object", "list"].includes(last.body.kind);
    default:
      return false;
  }
}

/** Returns whether the output starts with a brace, which would open a function's body. */
export function startsWithObject(node: Expression): boolean {
  switch (node.kind) {
    case "object":
      return true;
    case "member":
      return startsWithObject(node.object);
    case "binary":
      return node.operands[0] !== undefined && startsWithObject(node.operands[0]);
    default:
      return false;
  }
}

/** Returns whether an expression is a nonempty list or object. */
export function isFilledLiteral(node: Expression): boolean {
  if (node.kind === "list") return node.items.length > 0;
  return node.kind === "object" && node.entries.length > 0;
}
