import { constant, construction, value } from "../../../templates/code/syntax.ts";
import type { CheckedExpression } from "../check/checked-expression.ts";
import type { Constants } from "../evaluate/fold.ts";
import type { Node } from "../parse/ast.ts";
import { emitCall } from "./emit-call.ts";
import { emitList, emitLiteral, emitMap } from "./emit-literal.ts";
import { conditionalTest, conditionalValue, logicalTest, logicalValue } from "./emit-logic.ts";
import { emitMacro, macroTest } from "./emit-macro.ts";
import { comparisonTest } from "./emit-operator.ts";
import { emitIndex, emitPresence, emitSelect } from "./emit-select.ts";
import { type EmittedValue, helper, negated, simple, test } from "./emitted-value.ts";
import { Emitter } from "./emitter.ts";

/** Returns an emitter for a checked expression. */
export function emitterOf(checked: CheckedExpression, constants?: Constants): Emitter {
  return new Emitter(checked, { value: nodeValue, test: nodeTest }, constants);
}

function nodeValue(emitter: Emitter, node: Node): EmittedValue {
  const constant = emitter.constantOf(node);
  if (constant !== undefined) return emitLiteral(constant);
  const typeName = emitter.checked.typeNameOf(node);
  if (typeName !== undefined) return typeValue(typeName);
  switch (node.kind) {
    case "literal":
      return emitLiteral(node.literal);
    case "name":
      return nameValue(emitter, node);
    case "select":
      return emitSelect(emitter, node);
    case "presence":
      return emitPresence(emitter, node);
    case "index":
      return emitIndex(emitter, node);
    case "call":
      return emitCall(emitter, node);
    case "macro":
      return emitMacro(emitter, node);
    case "logical":
      return logicalValue(emitter, node);
    case "conditional":
      return conditionalValue(emitter, node);
    case "list":
      return emitList(emitter, node);
    case "map":
      return emitMap(emitter, node);
  }
}

/** Emits a type as a value: `int`. */
function typeValue(typeName: string): EmittedValue {
  const last = typeName.split(".").at(-1) ?? "";
  const proposal = `${last.charAt(0).toLowerCase()}${last.slice(1)}Type`;
  const made = construction(helper("values/types#TypeValue"), [value(typeName)]);
  return simple(constant(proposal, made), "other");
}

function nameValue(emitter: Emitter, node: Extract<Node, { kind: "name" }>): EmittedValue {
  const variable = emitter.scope.variable(node.name);
  if (variable !== undefined) return variable;
  const declaration = emitter.checked.declarationOf(node);
  if (declaration === undefined) throw new Error(`variable "${node.name}" was not resolved`);
  return emitter.declared(declaration);
}

function nodeTest(
  emitter: Emitter,
  node: Node,
  wanted: boolean,
  isOpposite: boolean,
): EmittedValue {
  if (emitter.constantOf(node) === undefined) {
    if (node.kind === "logical") return logicalTest(emitter, node, wanted, isOpposite);
    if (node.kind === "call" && node.name === "!" && node.args[0] !== undefined) {
      return emitter.test(node.args[0], !wanted, isOpposite);
    }
  }
  const emitted = plainTest(emitter, node, wanted);
  return isOpposite ? negated(emitted) : emitted;
}

/** Emits a test of a node that is not a logical operator. */
function plainTest(emitter: Emitter, node: Node, wanted: boolean): EmittedValue {
  const special =
    emitter.constantOf(node) === undefined ? specialTest(emitter, node, wanted) : undefined;
  if (special !== undefined) return special;
  const emitted = emitter.value(node);
  if (emitted.ts === "boolean" && !emitted.mayFail) return wanted ? emitted : negated(emitted);
  // A value that is not a bool is neither true nor false.
  if (emitted.ts !== "boolean" && emitted.ts !== "unknown") return test(value(false));
  const constant = simple(value(wanted), "boolean");
  return isUntyped(emitter, node)
    ? emitter.strict(emitted, constant)
    : emitter.isExactly(emitted, constant);
}

/** Emits tests that are shorter than a comparison of the value. */
function specialTest(emitter: Emitter, node: Node, wanted: boolean): EmittedValue | undefined {
  switch (node.kind) {
    case "conditional":
      return conditionalTest(emitter, node, wanted);
    case "macro":
      return macroTest(emitter, node, wanted);
    case "call":
      return comparisonTest(emitter, node, wanted);
    default:
      return undefined;
  }
}

/** Whether TypeScript does not know the type of a value either, so that it can be compared with anything. */
function isUntyped(emitter: Emitter, node: Node): boolean {
  if (emitter.checked.typeOf(node).kind === "bool") return true;
  return node.kind === "name" || node.kind === "select" || node.kind === "index";
}
