import type { Node } from "../parse/ast.ts";
import type { Problems } from "../parse/problems.ts";
import { BOOL, ERROR, formatType, type Type } from "../types/types.ts";
import { Substitution } from "../types/unify.ts";
import type { Environment } from "../variables/environment.ts";
import { CheckedNodes } from "./checked-expression.ts";

/** Computes the type of a node, and asks the checker for the types of the nodes below it. */
export type NodeCheck = (checker: Checker, node: Node) => Type;

/** A variable of a macro. */
interface LocalVariable {
  readonly name: string;
  readonly type: Type;
}

/** Checks one expression; how each kind of node is checked is passed to it. */
export class Checker {
  /** Results by node. */
  readonly nodes: CheckedNodes;
  readonly environment: Environment;
  readonly problems: Problems;
  readonly #typeOf: NodeCheck;
  readonly #substitution = new Substitution();
  /** Variables of enclosing macros, the innermost last. */
  #scope: readonly LocalVariable[] = [];

  constructor(root: Node, environment: Environment, problems: Problems, typeOf: NodeCheck) {
    this.nodes = new CheckedNodes(root, this.#substitution);
    this.environment = environment;
    this.problems = problems;
    this.#typeOf = typeOf;
  }

  /** Returns the type of a node and checks everything below it. */
  check(node: Node): Type {
    const type = this.#typeOf(this, node);
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
    return this.local(name) !== undefined || this.environment.declarations.has(name);
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
  join(types: readonly Type[]): Type {
    const [first, ...rest] = types;
    if (first === undefined) return this.#substitution.fresh();
    return rest.reduce((joined, type) => this.#substitution.join(joined, type), first);
  }

  /** Returns the innermost variable of a macro with this name. */
  local(name: string): LocalVariable | undefined {
    return this.#scope.findLast((variable) => variable.name === name);
  }
}

const NUMERIC: ReadonlySet<Type["kind"]> = new Set(["int", "uint", "double"]);
