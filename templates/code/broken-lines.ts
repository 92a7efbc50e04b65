import type { Expression, ListExpression } from "./hole.ts";
import { numberText } from "./value-text.ts";

/** Whether an expression has a line break whatever its width. */
export function isAlwaysBroken(node: Expression): boolean {
  return node.kind === "call"
    ? areFunctionsComposed(node.args)
    : node.kind === "list" && isTable(node);
}

/** A list of lists, or of objects, that have several items each. */
export function isTable({ items }: ListExpression): boolean {
  return (
    items.length > 1 &&
    (items.every((item) => item.kind === "list" && item.items.length > 1) ||
      items.every((item) => item.kind === "object" && item.entries.length > 1))
  );
}

/** The numbers of a list that holds more than one and nothing else. */
export function numbersIn({ items }: ListExpression): readonly string[] | undefined {
  const numbers = items.flatMap((item) =>
    item.kind === "value" && typeof item.value === "number" ? [numberText(item.value)] : [],
  );
  return numbers.length === items.length && numbers.length > 1 ? numbers : undefined;
}

/** Whether arguments are two functions, or calls of something with a function: each has a line for itself. */
export function areFunctionsComposed(args: readonly Expression[]): boolean {
  const isFunction = ({ kind }: Expression) => kind === "arrow";
  if (args.length < 2) return false;
  return (
    args.filter(isFunction).length > 1 ||
    args.some((arg) => arg.kind === "call" && arg.args.some(isFunction))
  );
}

/** Whether the last argument may begin on the line of the call and be broken inside. */
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

/** Whether the text begins with a brace, which would open a function's body. */
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

/** A list or an object with something in it. */
export function isFilledLiteral(node: Expression): boolean {
  if (node.kind === "list") return node.items.length > 0;
  return node.kind === "object" && node.entries.length > 0;
}
