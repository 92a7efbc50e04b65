import { suggest } from "../../diagnostics/suggestion.ts";
import { dottedName, type Node } from "../parse/ast.ts";
import type { Problems } from "../parse/problems.ts";
import { typeNames } from "../types/signature.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  ERROR,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  type Type,
  typeOf,
  UINT,
} from "../types/types.ts";
import { type Environment, membersOf, pathTo } from "../variables/environment.ts";
import { checkCall } from "./check-call.ts";
import { checkMacro } from "./check-macro.ts";
import { checkIndex, checkPresence, checkSelect } from "./check-select.ts";
import type { CheckedExpression } from "./checked-expression.ts";
import { Checker } from "./checker.ts";

/** Computes the type of every node and reports each mistake once. */
export function checkExpression(
  root: Node,
  environment: Environment,
  problems: Problems,
): CheckedExpression {
  const checker = new Checker(root, environment, problems, nodeType);
  checker.checkValue(root);
  return checker.nodes;
}

function nodeType(checker: Checker, node: Node): Type {
  const qualified = qualifiedType(checker, node);
  if (qualified !== undefined) return qualified;
  switch (node.kind) {
    case "literal":
      return LITERALS[node.literal.kind];
    case "name":
      return nameType(checker, node);
    case "select":
      return checkSelect(checker, node);
    case "presence":
      return checkPresence(checker, node);
    case "index":
      return checkIndex(checker, node);
    case "call":
      return checkCall(checker, node);
    case "macro":
      return checkMacro(checker, node);
    case "logical":
      for (const operand of node.operands) checker.requireBool(operand);
      return BOOL;
    case "conditional": {
      checker.requireBool(node.test);
      return checker.join([
        checker.checkValue(node.consequent),
        checker.checkValue(node.alternate),
      ]);
    }
    case "list":
      return listOf(checker.join(node.elements.map((element) => checker.checkValue(element))));
    case "map": {
      const keys = checker.join(node.entries.map(({ key }) => checker.checkValue(key)));
      const values = checker.join(node.entries.map(({ value }) => checker.checkValue(value)));
      return mapOf(keys, values);
    }
  }
}

function nameType(checker: Checker, node: Extract<Node, { kind: "name" }>): Type {
  const local = checker.local(node.name);
  if (local !== undefined) return local.type;
  const declaration = checker.environment.declarations.get(node.name);
  if (declaration !== undefined) {
    checker.nodes.declare(node, declaration);
    return declaration.type;
  }
  reportUnknown(checker, node.name, node);
  return ERROR;
}

/**
 * Returns the type of a dotted name that is declared as a whole or names a type: `google.protobuf.Timestamp`, `int`.
 */
function qualifiedType(checker: Checker, node: Node): Type | undefined {
  if (node.kind !== "select" && node.kind !== "name") return undefined;
  const name = dottedName(node);
  if (name === undefined || isLocal(checker, name)) return undefined;
  const declaration = checker.environment.declarations.get(name);
  if (declaration !== undefined) {
    if (node.kind === "name" || declaration.type.kind === "object") return undefined;
    checker.nodes.declare(node, declaration);
    const { type } = declaration;
    return node.isOptional ? optionalOf(type) : type;
  }
  const type = typeNames.get(name);
  if (type === undefined) return undefined;
  checker.nodes.nameType(node, name);
  return typeOf(type);
}

function isLocal(checker: Checker, dotted: string): boolean {
  const [root = ""] = dotted.split(".");
  return checker.local(root) !== undefined;
}

function reportUnknown(checker: Checker, name: string, node: Node): void {
  const phases = checker.environment.elsewhere(name);
  if (phases.length > 0) {
    const phase = checker.environment.description;
    checker.problems.report("cel-wrong-phase", node.span, {
      name,
      phase,
      phases: phases.join(", "),
    });
    return;
  }
  const known = membersOf(checker.environment, "");
  const suggestion =
    suggest(name, [...known, "true", "false", "null"]) ?? pathTo(checker.environment, name);
  const isWhole = node === checker.nodes.root;
  const params = { name, known: known.join(", "), suggestion, isWhole };
  checker.problems.report("cel-unknown-variable", node.span, params);
}

const LITERALS = {
  null: NULL,
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
} as const;
