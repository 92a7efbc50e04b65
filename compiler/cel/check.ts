import { nearest } from "../nearest.ts";
import type { CallNode, Node } from "./ast.ts";
import { checkCall } from "./check-call.ts";
import { checkMacro } from "./check-macro.ts";
import { type Declaration, type Environment, membersOf } from "./environment.ts";
import type { FunctionDeclaration } from "./functions/declaration.ts";
import type { Problems } from "./problems.ts";
import type { Overload } from "./signature.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  formatType,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  type Type,
  typeOf,
  UINT,
} from "./types.ts";
import { Substitution } from "./unify.ts";

/** A call that the checker understood: the function, and its forms that the arguments may fit. */
export interface ResolvedCall {
  readonly declaration: FunctionDeclaration;
  readonly overloads: readonly Overload[];
  /** The arguments: the target of a method first, the namespace of `math.abs(x)` left out. */
  readonly args: readonly Node[];
}

/** What the checker found out about an expression. */
export interface Checked {
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
export function check(root: Node, environment: Environment, problems: Problems): Checked {
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
    if (type.kind === "error") this.mistakes.add(node);
    return type;
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
        return this.#select(node);
      case "presence":
        return this.#presence(node);
      case "index":
        return this.#index(node);
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
    const type = TYPE_NAMES.get(name);
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
    const suggestion = nearest(name, known);
    const params = { name, known: known.join(", "), suggestion };
    this.problems.report("cel-unknown-variable", node.span, params);
  }

  #select(node: Extract<Node, { kind: "select" }>): Type {
    const operand = this.check(node.operand);
    const member = this.#member(node, operand);
    if (member !== undefined) return node.isOptional ? optionalOf(member) : member;
    const selected = this.fieldType(this.resolved(operand), node.field);
    if (selected === undefined) {
      const type = formatType(this.substitution.resolve(operand, true));
      this.problems.report("cel-not-selectable", node.fieldSpan, { type, field: node.field });
      return ERROR;
    }
    return node.isOptional && selected.kind !== "optional" ? optionalOf(selected) : selected;
  }

  #presence(node: Extract<Node, { kind: "presence" }>): Type {
    const operand = this.check(node.operand);
    const member = this.#member(node, operand);
    if (member === undefined && this.fieldType(this.resolved(operand), node.field) === undefined) {
      const type = formatType(this.substitution.resolve(operand, true));
      this.problems.report("cel-not-selectable", node.fieldSpan, { type, field: node.field });
    }
    return BOOL;
  }

  /** The declared field of one of the gateway's objects; undefined when the operand is none. */
  #member(node: Extract<Node, { kind: "select" | "presence" }>, operand: Type): Type | undefined {
    if (operand.kind !== "object") return undefined;
    const path = `${operand.name}.${node.field}`;
    const declaration = this.environment.declarations.get(path);
    if (declaration !== undefined) {
      this.declarations.set(node, declaration);
      return declaration.type;
    }
    const phases = this.environment.elsewhere(path);
    if (phases.length > 0) {
      this.problems.report("cel-wrong-phase", node.fieldSpan, {
        name: path,
        phase: this.environment.description,
        phases: phases.join(", "),
      });
      return ERROR;
    }
    const known = membersOf(this.environment, operand.name);
    const suggestion = nearest(node.field, known);
    this.problems.report("cel-unknown-field", node.fieldSpan, {
      owner: operand.name,
      field: node.field,
      known: known.join(", "),
      suggestion,
    });
    return ERROR;
  }

  /** The type of `value.field`; undefined when such a value has no fields. */
  fieldType(type: Type, field: string): Type | undefined {
    switch (type.kind) {
      case "map":
        return this.substitution.assign([type.key], [STRING]) ? type.value : undefined;
      case "optional": {
        const inner = this.fieldType(this.resolved(type.of), field);
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

  #index(node: Extract<Node, { kind: "index" }>): Type {
    const operand = this.resolved(this.checkValue(node.operand));
    const index = this.checkValue(node.index);
    const element = this.#elementType(operand, index);
    if (element === undefined) {
      const call = `${formatType(operand)}[${formatType(this.resolved(index))}]`;
      const candidates = "list(A)[int], map(K, V)[K]";
      this.problems.report("cel-no-overload", node.span, { call, candidates });
      return ERROR;
    }
    return node.isOptional && element.kind !== "optional" ? optionalOf(element) : element;
  }

  #elementType(operand: Type, index: Type): Type | undefined {
    switch (operand.kind) {
      case "list": {
        const isNumber = [INT, UINT, DOUBLE].some((type) =>
          this.substitution.assign([index], [type]),
        );
        return isNumber ? operand.element : undefined;
      }
      case "map":
        return this.substitution.assign([index], [operand.key]) ||
          this.isNumeric(index, operand.key)
          ? operand.value
          : undefined;
      case "optional": {
        const inner = this.#elementType(this.resolved(operand.of), index);
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

  /** Whether all are numbers, so that they compare by value though their types differ. */
  isNumeric(...types: readonly Type[]): boolean {
    return types.every((type) => NUMERIC.has(this.resolved(type).kind));
  }
}

/** `a.b.c`, for a chain of selections that starts at a name. */
function dottedName(node: Node): string | undefined {
  if (node.kind === "name") return node.name;
  if (node.kind !== "select") return undefined;
  const before = dottedName(node.operand);
  return before === undefined ? undefined : `${before}.${node.field}`;
}

/** Names of types, which are values. */
const TYPE_NAMES: ReadonlyMap<string, Type> = new Map([
  ["bool", BOOL],
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["string", STRING],
  ["bytes", BYTES],
  ["list", listOf(DYN)],
  ["map", mapOf(DYN, DYN)],
  ["null_type", NULL],
  ["type", { kind: "opaque", name: "type" }],
  ["optional_type", optionalOf(DYN)],
  ["google.protobuf.Timestamp", TIMESTAMP],
  ["google.protobuf.Duration", DURATION],
  ["net.IP", { kind: "opaque", name: "ip" }],
  ["net.CIDR", { kind: "opaque", name: "cidr" }],
]);

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
