import type { FunctionDeclaration } from "../functions/declaration.ts";
import type { CallNode, Node } from "../parse/ast.ts";
import type { Overload } from "../types/signature.ts";
import { ERROR, type Type } from "../types/types.ts";
import type { Substitution } from "../types/unify.ts";
import type { Declaration } from "../variables/environment.ts";

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

/** The same while it is found out: the checker says each thing once, and what is known can be asked at any time. */
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

  /** The node has this type. */
  type(node: Node, type: Type): void {
    this.#types.set(node, type);
    if (type.kind === "error" && this.#isOwnMistake(node)) this.#mistakes.add(node);
  }

  /** The node names this variable or field of the gateway. */
  declare(node: Node, declaration: Declaration): void {
    this.#declarations.set(node, declaration);
  }

  /** The node is a call of this function. */
  resolveCall(node: CallNode, call: ResolvedCall): void {
    this.#calls.set(node, call);
  }

  /** The node names a type. */
  nameType(node: Node, typeName: string): void {
    this.#typeNames.set(node, typeName);
  }

  /** Whether an error is the node's own, or of a part that may not even be evaluated: a branch, a default. */
  #isOwnMistake(node: Node): boolean {
    if (node.kind === "call") return (this.#calls.get(node)?.overloads.length ?? 0) === 0;
    return node.kind === "name" || node.kind === "select" || node.kind === "index";
  }
}
