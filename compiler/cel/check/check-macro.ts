import type { MacroNode, Node } from "../parse/ast.ts";
import {
  BOOL,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  optionalOf,
  STRING,
  type Type,
} from "../types/types.ts";
import type { Checker } from "./checker.ts";

/** Returns the type of a macro; its variables are in scope in its expressions. */
export function checkMacro(checker: Checker, node: MacroNode): Type {
  const range = checker.resolved(checker.checkValue(node.range));
  const types = variableTypes(checker, node, range);
  const variables = node.variables.map(({ name }, at) => ({ name, type: types[at] ?? DYN }));
  return checker.withVariables(variables, () => resultType(checker, node, range, types));
}

/** Returns the types of the macro's variables: elements, keys, indices, values. */
function variableTypes(checker: Checker, node: MacroNode, range: Type): readonly Type[] {
  switch (node.macro) {
    case "bind":
    case "with":
      return [range];
    case "optMap":
    case "optFlatMap":
      return [contentType(checker, node, range)];
    case "mapValues":
      return [rangeTypes(checker, node, range).value];
    case "filterKeys":
      return [rangeTypes(checker, node, range).key];
    default: {
      const { key, value, item } = rangeTypes(checker, node, range);
      return node.variables.length === 2 ? [key, value] : [item];
    }
  }
}

/** Returns the types that a range provides: `item` for one variable, `key` and `value` for two. */
function rangeTypes(
  checker: Checker,
  node: MacroNode,
  range: Type,
): { readonly key: Type; readonly value: Type; readonly item: Type } {
  switch (range.kind) {
    case "list":
      return { key: INT, value: range.element, item: range.element };
    case "map":
      return { key: range.key, value: range.value, item: range.key };
    case "dyn":
    case "param":
      return { key: DYN, value: DYN, item: DYN };
    case "error":
      return { key: ERROR, value: ERROR, item: ERROR };
    default:
      reportRange(checker, node, range, "a list or a map");
      return { key: ERROR, value: ERROR, item: ERROR };
  }
}

function contentType(checker: Checker, node: MacroNode, range: Type): Type {
  if (range.kind === "optional") return range.of;
  if (range.kind === "dyn" || range.kind === "error" || range.kind === "param") return range;
  reportRange(checker, node, range, "an optional");
  return ERROR;
}

function reportRange(checker: Checker, node: MacroNode, range: Type, wanted: string): void {
  checker.problems.report("cel-no-overload", node.range.span, {
    call: `${checker.format(range)}.${node.macro}(…)`,
    candidates: wanted,
  });
}

function resultType(
  checker: Checker,
  node: MacroNode,
  range: Type,
  variables: readonly Type[],
): Type {
  const [first, second] = node.bodies;
  if (first === undefined) return ERROR;
  switch (node.macro) {
    case "all":
    case "exists":
    case "existsOne":
      checker.requireBool(first);
      return BOOL;
    case "filter":
      checker.requireBool(first);
      return listOf(variables[0] ?? DYN);
    case "map":
    case "transformList":
      return listOf(checker.checkValue(bodyOf(checker, first, second)));
    case "transformMap":
      return mapOf(variables[0] ?? DYN, checker.checkValue(bodyOf(checker, first, second)));
    case "transformMapEntry": {
      const entry = checker.resolved(checker.checkValue(bodyOf(checker, first, second)));
      return entry.kind === "map" ? entry : mapOf(DYN, DYN);
    }
    case "sortBy":
      checker.checkValue(first);
      return range.kind === "list" ? range : listOf(DYN);
    case "mapValues": {
      const value = checker.checkValue(first);
      return mapOf(range.kind === "map" ? range.key : STRING, value);
    }
    case "filterKeys":
      checker.requireBool(first);
      return range.kind === "map" ? range : mapOf(STRING, DYN);
    case "bind":
    case "with":
      return checker.checkValue(first);
    case "optMap":
      return optionalOf(checker.checkValue(first));
    case "optFlatMap": {
      const result = checker.checkValue(first);
      return checker.fits([result], [optionalOf(DYN)]) ? result : optionalOf(DYN);
    }
  }
}

/** Returns the last expression of a macro; checks the condition before it. */
function bodyOf(checker: Checker, first: Node, second: Node | undefined): Node {
  if (second === undefined) return first;
  checker.requireBool(first);
  return second;
}
