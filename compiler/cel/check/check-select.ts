import { suggest } from "../../diagnostics/suggestion.ts";
import type { Node } from "../parse/ast.ts";
import {
  BOOL,
  DOUBLE,
  DYN,
  ERROR,
  formatType,
  INT,
  optionalOf,
  STRING,
  type Type,
  UINT,
} from "../types/types.ts";
import { membersOf } from "../variables/environment.ts";
import type { Checker } from "./checker.ts";

/** Returns the type of `operand.field`. */
export function checkSelect(checker: Checker, node: Extract<Node, { kind: "select" }>): Type {
  const operand = checker.check(node.operand);
  const member = memberType(checker, node, operand);
  if (member !== undefined) return node.isOptional ? optionalOf(member) : member;
  const selected = fieldType(checker, checker.resolved(operand), node.field);
  if (selected === undefined) {
    const type = checker.format(operand);
    checker.problems.report("cel-not-selectable", node.fieldSpan, { type, field: node.field });
    return ERROR;
  }
  return node.isOptional && selected.kind !== "optional" ? optionalOf(selected) : selected;
}

/** Returns the type of `has(operand.field)`: bool, if the field may exist. */
export function checkPresence(checker: Checker, node: Extract<Node, { kind: "presence" }>): Type {
  const operand = checker.check(node.operand);
  const member = memberType(checker, node, operand);
  if (
    member === undefined &&
    fieldType(checker, checker.resolved(operand), node.field) === undefined
  ) {
    const type = checker.format(operand);
    checker.problems.report("cel-not-selectable", node.fieldSpan, { type, field: node.field });
  }
  return BOOL;
}

/** Returns the type of `operand[index]`. */
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

/** Returns the declared field of one of the gateway's objects; `undefined` for other operands. */
function memberType(
  checker: Checker,
  node: Extract<Node, { kind: "select" | "presence" }>,
  operand: Type,
): Type | undefined {
  if (operand.kind !== "object") return undefined;
  const path = `${operand.name}.${node.field}`;
  const declaration = checker.environment.declarations.get(path);
  if (declaration !== undefined) {
    checker.nodes.declare(node, declaration);
    return declaration.type;
  }
  const phases = checker.environment.elsewhere(path);
  if (phases.length > 0) {
    checker.problems.report("cel-wrong-phase", node.fieldSpan, {
      name: path,
      phase: checker.environment.description,
      phases: phases.join(", "),
    });
    return ERROR;
  }
  const known = membersOf(checker.environment, operand.name);
  const suggestion = suggest(node.field, known);
  checker.problems.report("cel-unknown-field", node.fieldSpan, {
    owner: operand.name,
    field: node.field,
    known: known.join(", "),
    suggestion,
  });
  return ERROR;
}

/** Returns the type of `value.field`; `undefined` if such a value has no fields. */
function fieldType(checker: Checker, type: Type, field: string): Type | undefined {
  switch (type.kind) {
    case "map":
      return checker.fits([type.key], [STRING]) ? type.value : undefined;
    case "optional":
      return inOptional(fieldType(checker, checker.resolved(type.of), field));
    default:
      return partOfAny(type);
  }
}

/** Returns the type of an indexed element; `undefined` if the value or the index has a wrong type. */
function elementType(checker: Checker, operand: Type, index: Type): Type | undefined {
  switch (operand.kind) {
    case "list": {
      const isNumber = [INT, UINT, DOUBLE].some((type) => checker.fits([index], [type]));
      return isNumber ? operand.element : undefined;
    }
    case "map":
      return checker.fits([index], [operand.key]) || checker.isNumeric(index, operand.key)
        ? operand.value
        : undefined;
    case "optional":
      return inOptional(elementType(checker, checker.resolved(operand.of), index));
    default:
      return partOfAny(operand);
  }
}

/** Makes the type of a part of an optional value optional. */
function inOptional(part: Type | undefined): Type | undefined {
  return part === undefined || part.kind === "optional" ? part : optionalOf(part);
}

/** Returns the type of a part of a value of unknown type; `undefined` if the value has no parts. */
function partOfAny({ kind }: Type): Type | undefined {
  if (kind === "error") return ERROR;
  return kind === "dyn" || kind === "param" ? DYN : undefined;
}
