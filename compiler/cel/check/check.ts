import { suggest } from "../../diagnostics/suggestion.ts";
import { dottedName, type Node } from "../parse/ast.ts";
import type { Problems } from "../parse/problems.ts";
import { typeNames } from "../types/signature.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  ERROR,
  formatType,
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
import { Substitution } from "../types/unify.ts";
import { type Environment, membersOf, pathTo } from "../variables/environment.ts";
import { checkCall } from "./check-call.ts";
import { checkMacro } from "./check-macro.ts";
import { checkIndex, checkPresence, checkSelect } from "./check-select.ts";
import { type CheckedExpression, CheckedNodes } from "./checked-expression.ts";

/** Computes the type of every node and reports each mistake once. */
export function checkExpression(
  root: Node,
  environment: Environment,
  problems: Problems,
): CheckedExpression {
  const checker = new Checker(root, environment, problems);
  checker.checkValue(root);
  return checker.nodes;
}

/** A variable of a macro. */
interface LocalVariable {
  readonly name: string;
  readonly type: Type;
}

/** Checks the nodes of one expression. Calls, macros and selections are checked in separate files. */
export class Checker {
  /** Results by node. */
  readonly nodes: CheckedNodes;
  readonly environment: Environment;
  readonly problems: Problems;
  readonly #substitution = new Substitution();
  /** Variables of enclosing macros, the innermost last. */
  #scope: readonly LocalVariable[] = [];

  constructor(root: Node, environment: Environment, problems: Problems) {
    this.nodes = new CheckedNodes(root, this.#substitution);
    this.environment = environment;
    this.problems = problems;
  }

  /** Returns the type of a node and checks everything below it. */
  check(node: Node): Type {
    const type = this.#typeOf(node);
    this.nodes.type(node, type);
    return type;
  }

  /** Returns the type of a node that is used as a value: an object that only groups fields is refused. */
  checkValue(node: Node): Type {
    const type = this.check(node);
    const declaration = this.nodes.declarationOf(node);
    if (declaration !== undefined && declaration.code === undefined) {
      this.problems.report("cel-object-as-value", node.span, { name: declaration.path });
      return ERROR;
    }
    return type;
  }

  #typeOf(node: Node): Type {
    const qualified = this.#qualified(node);
    if (qualified !== undefined) return qualified;
    switch (node.kind) {
      case "literal":
        return LITERALS[node.literal.kind];
      case "name":
        return this.#name(node);
      case "select":
        return checkSelect(this, node);
      case "presence":
        return checkPresence(this, node);
      case "index":
        return checkIndex(this, node);
      case "call":
        return checkCall(this, node);
      case "macro":
        return checkMacro(this, node);
      case "logical":
        for (const operand of node.operands) this.requireBool(operand);
        return BOOL;
      case "conditional": {
        this.requireBool(node.test);
        return this.#join([this.checkValue(node.consequent), this.checkValue(node.alternate)]);
      }
      case "list":
        return listOf(this.#join(node.elements.map((element) => this.checkValue(element))));
      case "map": {
        const keys = this.#join(node.entries.map(({ key }) => this.checkValue(key)));
        const values = this.#join(node.entries.map(({ value }) => this.checkValue(value)));
        return mapOf(keys, values);
      }
    }
  }

  /** Checks that a node is a bool. */
  requireBool(node: Node): void {
    const type = this.checkValue(node);
    if (this.fits([type], [BOOL])) return;
    this.problems.report("cel-not-bool", node.span, { type: this.format(type) });
  }

  /** Runs a check with additional variables of a macro in scope. */
  withVariables(variables: readonly LocalVariable[], check: () => Type): Type {
    const around = this.#scope;
    this.#scope = [...around, ...variables];
    const type = check();
    this.#scope = around;
    return type;
  }

  /** Whether a name is a variable in this scope. */
  isVariable(name: string): boolean {
    return this.#local(name) !== undefined || this.environment.declarations.has(name);
  }

  /** Returns the type of an operand of macros and indices, with its type parameters resolved. */
  resolved(type: Type): Type {
    return this.#substitution.resolve(type);
  }

  /** Returns the types with fresh type parameters, renamed consistently. */
  instantiate(types: readonly Type[]): readonly Type[] {
    return this.#substitution.instantiate(types);
  }

  /** Whether each type is assignable to the expected one. */
  fits(types: readonly Type[], expected: readonly Type[]): boolean {
    return this.#substitution.assign(types, expected);
  }

  /** Formats a type for messages. */
  format(type: Type): string {
    return formatType(this.#substitution.resolve(type, true));
  }

  /** Whether all types are numbers, which are compared by value although their types differ. */
  isNumeric(...types: readonly Type[]): boolean {
    return types.every((type) => NUMERIC.has(this.resolved(type).kind));
  }

  /** Returns the common type of all; a fresh parameter for an empty list. */
  #join(types: readonly Type[]): Type {
    const [first, ...rest] = types;
    if (first === undefined) return this.#substitution.fresh();
    return rest.reduce((joined, type) => this.#substitution.join(joined, type), first);
  }

  #name(node: Extract<Node, { kind: "name" }>): Type {
    const local = this.#local(node.name);
    if (local !== undefined) return local.type;
    const declaration = this.environment.declarations.get(node.name);
    if (declaration !== undefined) {
      this.nodes.declare(node, declaration);
      return declaration.type;
    }
    this.#reportUnknown(node.name, node);
    return ERROR;
  }

  /**
   * Returns the type of a dotted name that is declared as a whole or names a type: `google.protobuf.Timestamp`, `int`.
   */
  #qualified(node: Node): Type | undefined {
    if (node.kind !== "select" && node.kind !== "name") return undefined;
    const name = dottedName(node);
    if (name === undefined || this.#isLocal(name)) return undefined;
    const declaration = this.environment.declarations.get(name);
    if (declaration !== undefined) {
      if (node.kind === "name" || declaration.type.kind === "object") return undefined;
      this.nodes.declare(node, declaration);
      const { type } = declaration;
      return node.isOptional ? optionalOf(type) : type;
    }
    const type = typeNames.get(name);
    if (type === undefined) return undefined;
    this.nodes.nameType(node, name);
    return typeOf(type);
  }

  #isLocal(dotted: string): boolean {
    const [root = ""] = dotted.split(".");
    return this.#local(root) !== undefined;
  }

  #local(name: string): LocalVariable | undefined {
    return this.#scope.findLast((variable) => variable.name === name);
  }

  #reportUnknown(name: string, node: Node): void {
    const phases = this.environment.elsewhere(name);
    if (phases.length > 0) {
      const phase = this.environment.description;
      this.problems.report("cel-wrong-phase", node.span, {
        name,
        phase,
        phases: phases.join(", "),
      });
      return;
    }
    const known = membersOf(this.environment, "");
    const suggestion =
      suggest(name, [...known, "true", "false", "null"]) ?? pathTo(this.environment, name);
    const params = { name, known: known.join(", "), suggestion };
    this.problems.report("cel-unknown-variable", node.span, params);
  }
}

const NUMERIC: ReadonlySet<Type["kind"]> = new Set(["int", "uint", "double"]);

const LITERALS = {
  null: NULL,
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
} as const;
