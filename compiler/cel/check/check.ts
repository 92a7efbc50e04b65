import { suggest } from "../../diagnostics/suggestion.ts";
import type { FunctionDeclaration } from "../functions/declaration.ts";
import { type CallNode, dottedName, type Node } from "../parse/ast.ts";
import type { Problems } from "../parse/problems.ts";
import type { Overload } from "../types/signature.ts";
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
import { type Declaration, type Environment, membersOf } from "../variables/environment.ts";
import { checkCall } from "./check-call.ts";
import { checkMacro } from "./check-macro.ts";
import { checkIndex, checkPresence, checkSelect } from "./check-select.ts";

/** A call that the checker understood: the function, and its forms that the arguments may fit. */
export interface ResolvedCall {
  readonly declaration: FunctionDeclaration;
  readonly overloads: readonly Overload[];
  /** The arguments: the target of a method first, the namespace of `math.abs(x)` left out. */
  readonly args: readonly Node[];
}

/** What the checker found out about an expression. */
export interface CheckedExpression {
  readonly root: Node;
  typeOf(node: Node): Type;
  /** The gateway's variable or field that a node names. */
  declarationOf(node: Node): Declaration | undefined;
  callOf(node: CallNode): ResolvedCall | undefined;
  /** The type that a node names: `int`. */
  typeNameOf(node: Node): string | undefined;
  /** Whether a mistake of this very node was reported, so that there is no code for it. */
  isMistake(node: Node): boolean;
}

/** Finds the type of every node; each mistake is reported once. */
export function checkExpression(
  root: Node,
  environment: Environment,
  problems: Problems,
): CheckedExpression {
  const checker = new Checker(environment, problems);
  checker.checkValue(root);
  return {
    root,
    typeOf: (node) => checker.substitution.resolve(checker.types.get(node) ?? ERROR, true),
    declarationOf: (node) => checker.declarations.get(node),
    callOf: (node) => checker.calls.get(node),
    typeNameOf: (node) => checker.typeNames.get(node),
    isMistake: (node) => checker.mistakes.has(node),
  };
}

/** The state of one check; the parts of it that belong to calls and macros are in files of their own. */
export class Checker {
  readonly substitution = new Substitution();
  readonly types = new Map<Node, Type>();
  readonly declarations = new Map<Node, Declaration>();
  readonly calls = new Map<CallNode, ResolvedCall>();
  readonly typeNames = new Map<Node, string>();
  readonly mistakes = new Set<Node>();
  readonly environment: Environment;
  readonly problems: Problems;
  /** The variables of the macros around, innermost last. */
  readonly scope: { readonly name: string; readonly type: Type }[] = [];

  constructor(environment: Environment, problems: Problems) {
    this.environment = environment;
    this.problems = problems;
  }

  /** The type of a node and of all below it. */
  check(node: Node): Type {
    const type = this.#typeOf(node);
    this.types.set(node, type);
    if (type.kind === "error" && this.#isOwnMistake(node)) this.mistakes.add(node);
    return type;
  }

  /** Whether an error is the node's own, or of a part that may not even be evaluated: a branch, a default. */
  #isOwnMistake(node: Node): boolean {
    if (node.kind === "call") return (this.calls.get(node)?.overloads.length ?? 0) === 0;
    return node.kind === "name" || node.kind === "select" || node.kind === "index";
  }

  /** The type of a node that is used as a value: an object that only groups fields is refused. */
  checkValue(node: Node): Type {
    const type = this.check(node);
    const declaration = this.declarations.get(node);
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
        return this.join([this.checkValue(node.consequent), this.checkValue(node.alternate)]);
      }
      case "list":
        return listOf(this.join(node.elements.map((element) => this.checkValue(element))));
      case "map": {
        const keys = this.join(node.entries.map(({ key }) => this.checkValue(key)));
        const values = this.join(node.entries.map(({ value }) => this.checkValue(value)));
        return mapOf(keys, values);
      }
    }
  }

  /** The type that all have; a fresh parameter for none. */
  join(types: readonly Type[]): Type {
    const [first, ...rest] = types;
    if (first === undefined) return this.substitution.fresh();
    return rest.reduce((joined, type) => this.substitution.join(joined, type), first);
  }

  /** Checks a node that must be a bool. */
  requireBool(node: Node): void {
    const type = this.checkValue(node);
    if (this.substitution.assign([type], [BOOL])) return;
    const found = formatType(this.substitution.resolve(type, true));
    this.problems.report("cel-not-bool", node.span, { type: found });
  }

  /** The type of what macros and indices go over, with its parameters put in. */
  resolved(type: Type): Type {
    return this.substitution.resolve(type);
  }

  #name(node: Extract<Node, { kind: "name" }>): Type {
    const local = this.scope.findLast(({ name }) => name === node.name);
    if (local !== undefined) return local.type;
    const declaration = this.environment.declarations.get(node.name);
    if (declaration !== undefined) {
      this.declarations.set(node, declaration);
      return declaration.type;
    }
    this.#reportUnknown(node.name, node);
    return ERROR;
  }

  /** A dotted name that is declared as a whole, or names a type: `google.protobuf.Timestamp`, `int`. */
  #qualified(node: Node): Type | undefined {
    if (node.kind !== "select" && node.kind !== "name") return undefined;
    const name = dottedName(node);
    if (name === undefined || this.#isLocal(name)) return undefined;
    const declaration = this.environment.declarations.get(name);
    if (declaration !== undefined) {
      if (node.kind === "name" || declaration.type.kind === "object") return undefined;
      this.declarations.set(node, declaration);
      const { type } = declaration;
      return node.isOptional ? optionalOf(type) : type;
    }
    const type = typeNames.get(name);
    if (type === undefined) return undefined;
    this.typeNames.set(node, name);
    return typeOf(type);
  }

  #isLocal(dotted: string): boolean {
    const [root] = dotted.split(".");
    return this.scope.some(({ name }) => name === root);
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
    const suggestion = suggest(name, [...known, "true", "false", "null"]);
    const params = { name, known: known.join(", "), suggestion };
    this.problems.report("cel-unknown-variable", node.span, params);
  }

  /** Whether all are numbers, so that they compare by value though their types differ. */
  isNumeric(...types: readonly Type[]): boolean {
    return types.every((type) => NUMERIC.has(this.resolved(type).kind));
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
