import type { Node } from "../parse/ast.ts";
import {
  DOUBLE,
  DYN,
  ERROR,
  formatType,
  INT,
  optionalOf,
  type Type,
  UINT,
} from "../types/types.ts";
import type { Checker } from "./check.ts";

/** The type of `operand[index]`. */
export function checkIndex(checker: Checker, node: Extract<Node, { kind: "index" }>): Type {
  const operand = checker.resolved(checker.checkValue(node.operand));
  const index = checker.checkValue(node.index);
  const element = elementType(checker, operand, index);
  if (element === undefined) {
    const call = `${formatType(operand)}[${formatType(checker.resolved(index))}]`;
    const candidates = "list(A)[int], map(K, V)[K]";
    checker.problems.report("cel-no-overload", node.span, { call, candidates });
    return ERROR;
  }
  return node.isOptional && element.kind !== "optional" ? optionalOf(element) : element;
}

/** What an index into a value gives; undefined for a value or an index of a wrong type. */
function elementType(checker: Checker, operand: Type, index: Type): Type | undefined {
  switch (operand.kind) {
    case "list": {
      const isNumber = [INT, UINT, DOUBLE].some((type) =>
        checker.substitution.assign([index], [type]),
      );
      return isNumber ? operand.element : undefined;
    }
    case "map":
      return checker.substitution.assign([index], [operand.key]) ||
        checker.isNumeric(index, operand.key)
        ? operand.value
        : undefined;
    case "optional": {
      const inner = elementType(checker, checker.resolved(operand.of), index);
      return inner === undefined || inner.kind === "optional" ? inner : optionalOf(inner);
    }
    case "dyn":
    case "param":
      return DYN;
    case "error":
      return ERROR;
    default:
      return undefined;
  }
}
