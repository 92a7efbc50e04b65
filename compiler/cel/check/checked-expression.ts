import type { FunctionDeclaration } from "../functions/declaration.ts";
import type { CallNode, Node } from "../parse/ast.ts";
import type { Overload } from "../types/signature.ts";
import { ERROR, type Type } from "../types/types.ts";
import type { Substitution } from "../types/unify.ts";
import type { Declaration } from "../variables/environment.ts";

/** A resolved call: the function, and the overloads that the arguments may match. */
export interface ResolvedCall {
  readonly declaration: FunctionDeclaration;
  readonly overloads: readonly Overload[];
  /** The arguments: the target of a method first, without the namespace of `math.abs(x)`. */
  readonly args: readonly Node[];
}

/** Results of checking an expression. */
export interface CheckedExpression {
  readonly root: Node;
  typeOf(node: Node): Type;
  /** Returns the gateway's variable or field that a node refers to. */
  declarationOf(node: Node): Declaration | undefined;
  callOf(node: CallNode): ResolvedCall | undefined;
  /** Returns the type that a node refers to: `int`. */
  typeNameOf(node: Node): string | undefined;
  /** Whether a mistake of this node itself was reported, so that no code can be generated for it. */
  isMistake(node: Node): boolean;
}

/**
 * Results while the expression is being checked: the checker records each fact once, and known facts can be read at any
 * time.
 */
export class CheckedNodes implements CheckedExpression {
  readonly root: Node;
  readonly #substitution: Substitution;
  readonly #types = new Map<Node, Type>();
  readonly #declarations = new Map<Node, Declaration>();
  readonly #calls = new Map<CallNode, ResolvedCall>();
  readonly #typeNames = new Map<Node, string>();
  readonly #mistakes = new Set<Node>();

  constructor(root: Node, substitution: Substitution) {
    this.root = root;
    this.#substitution = substitution;
  }

  typeOf(node: Node): Type {
    return this.#substitution.resolve(this.#types.get(node) ?? ERROR, true);
  }

  declarationOf(node: Node): Declaration | undefined {
    return this.#declarations.get(node);
  }

  callOf(node: CallNode): ResolvedCall | undefined {
    return this.#calls.get(node);
  }

  typeNameOf(node: Node): string | undefined {
    return this.#typeNames.get(node);
  }

  isMistake(node: Node): boolean {
    return this.#mistakes.has(node);
  }

  /** Records the type of a node. */
  type(node: Node, type: Type): void {
    this.#types.set(node, type);
    if (type.kind === "error" && this.#isOwnMistake(node)) this.#mistakes.add(node);
  }

  /** Records the gateway's variable or field that a node refers to. */
  declare(node: Node, declaration: Declaration): void {
    this.#declarations.set(node, declaration);
  }

  /** Records the function of a call. */
  resolveCall(node: CallNode, call: ResolvedCall): void {
    this.#calls.set(node, call);
  }

  /** Records the type that a node refers to. */
  nameType(node: Node, typeName: string): void {
    this.#typeNames.set(node, typeName);
  }

  /** Whether an error belongs to the node itself, or to a part that may not be evaluated: a branch, a default. */
  #isOwnMistake(node: Node): boolean {
    if (node.kind === "call") return (this.#calls.get(node)?.overloads.length ?? 0) === 0;
    return node.kind === "name" || node.kind === "select" || node.kind === "index";
  }
}
