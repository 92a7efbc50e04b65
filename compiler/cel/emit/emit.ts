import type { Expression } from "../../../templates/code/hole.ts";
import { call, value } from "../../../templates/code/syntax.ts";
import type { CheckedExpression } from "../check/checked-expression.ts";
import type { Constants } from "../evaluate/fold.ts";
import type { LiteralValue, Node } from "../parse/ast.ts";
import type { Declaration } from "../variables/environment.ts";
import { DataReads } from "./data-reads.ts";
import { emitCall } from "./emit-call.ts";
import { boxDouble, constantValue, typeValue } from "./emit-constant.ts";
import { emitList, emitLiteral, emitMap } from "./emit-literal.ts";
import { conditionalTest, conditionalValue, logicalTest, logicalValue } from "./emit-logic.ts";
import { emitMacro, macroTest } from "./emit-macro.ts";
import { comparisonTest } from "./emit-operator.ts";
import { emitIndex, emitPresence, emitSelect } from "./emit-select.ts";
import {
  type EmittedValue,
  equality,
  helper,
  literalIn,
  negated,
  simple,
  test,
} from "./emitted-value.ts";
import { MacroScope } from "./macro-scope.ts";
import { Narrowing } from "./narrowing.ts";

/**
 * Turns a checked expression into TypeScript. There are three ways to emit a node: `value` gives the CEL value or
 * undefined for an error; `isTrue` gives a boolean that is true exactly when the node evaluates to true, `isFalse` one
 * that is true exactly when it evaluates to false. In the last two, CEL's rule that `false && error` is false and
 * `true || error` true costs nothing: `&&` and `||` are JavaScript's.
 */
export class Emitter {
  readonly checked: CheckedExpression;
  readonly reads = new DataReads();
  readonly scope = new MacroScope();
  readonly narrowing = new Narrowing();
  readonly #constants: Constants | undefined;

  constructor(checked: CheckedExpression, constants?: Constants) {
    this.checked = checked;
    this.#constants = constants;
  }

  /** The constant that a node evaluates to, when folding found it. */
  constantOf(node: Node): LiteralValue | undefined {
    return this.#constants?.literalOf(node);
  }

  /** The value, or undefined for an error. */
  value(node: Node): EmittedValue {
    if (this.checked.isMistake(node)) return FAILURE;
    const constant = this.constantOf(node);
    if (constant !== undefined) return emitLiteral(constant);
    const typeName = this.checked.typeNameOf(node);
    if (typeName !== undefined) return typeValue(typeName);
    if (this.#constants?.isConstant(node)) return constantValue(this, node, this.#valueOf(node));
    return this.#valueOf(node);
  }

  #valueOf(node: Node): EmittedValue {
    switch (node.kind) {
      case "literal":
        return emitLiteral(node.literal);
      case "name":
        return this.#name(node);
      case "select":
        return emitSelect(this, node);
      case "presence":
        return emitPresence(this, node);
      case "index":
        return emitIndex(this, node);
      case "call":
        return emitCall(this, node);
      case "macro":
        return emitMacro(this, node);
      case "logical":
        return logicalValue(this, node);
      case "conditional":
        return conditionalValue(this, node);
      case "list":
        return emitList(this, node);
      case "map":
        return emitMap(this, node);
    }
  }

  /** A boolean: whether the node evaluates to true. */
  isTrue(node: Node): EmittedValue {
    return this.test(node, true);
  }

  /** A boolean: whether the node evaluates to false. */
  isFalse(node: Node): EmittedValue {
    return this.test(node, false);
  }

  /** A boolean: whether the node evaluates to anything but false; an error is no false. */
  isNotFalse(node: Node): EmittedValue {
    return this.test(node, false, true);
  }

  /** A value in the form that helpers and containers take: a double is told from an int. */
  boxed(node: Node): EmittedValue {
    return this.box(this.value(node));
  }

  /** The same for a value that was emitted. */
  box(emitted: EmittedValue): EmittedValue {
    return boxDouble(this, emitted);
  }

  /** A call of a runtime helper. */
  call(
    reference: string,
    args: readonly { readonly expression: Expression }[],
    result?: Partial<EmittedValue>,
  ): EmittedValue {
    const expressions = args.map(({ expression }) => expression);
    const expression = call(helper(reference), expressions);
    return { expression, ts: "unknown", mayFail: true, ...result };
  }

  /** The code of a declared variable; notes what it needs. */
  declared(declaration: Declaration): EmittedValue {
    if (declaration.code === undefined) throw new Error(`no code for "${declaration.path}"`);
    this.reads.declared(declaration);
    return declaration.code;
  }

  #name(node: Extract<Node, { kind: "name" }>): EmittedValue {
    const variable = this.scope.variable(node.name);
    if (variable !== undefined) return variable;
    const declaration = this.checked.declarationOf(node);
    if (declaration === undefined) throw new Error(`variable "${node.name}" was not resolved`);
    return this.declared(declaration);
  }

  /** A boolean: whether the node evaluates to `wanted`; with `isOpposite`, whether it does not. */
  test(node: Node, wanted: boolean, isOpposite = false): EmittedValue {
    if (this.constantOf(node) === undefined) {
      if (node.kind === "logical") return logicalTest(this, node, wanted, isOpposite);
      if (node.kind === "call" && node.name === "!" && node.args[0] !== undefined) {
        return this.test(node.args[0], !wanted, isOpposite);
      }
    }
    const test = this.#plainTest(node, wanted);
    return isOpposite ? negated(test) : test;
  }

  /** A test of what is no logical operator. */
  #plainTest(node: Node, wanted: boolean): EmittedValue {
    const special =
      this.constantOf(node) === undefined ? this.#specialTest(node, wanted) : undefined;
    if (special !== undefined) return special;
    const emitted = this.value(node);
    if (emitted.ts === "boolean" && !emitted.mayFail) return wanted ? emitted : negated(emitted);
    // what is no bool is neither true nor false
    if (emitted.ts !== "boolean" && emitted.ts !== "unknown") return NEVER;
    const constant = simple(value(wanted), "boolean");
    return this.#isUntyped(node)
      ? this.strict(emitted, constant)
      : this.isExactly(emitted, constant);
  }

  /** Nodes whose test is shorter than a comparison of their value. */
  #specialTest(node: Node, wanted: boolean): EmittedValue | undefined {
    switch (node.kind) {
      case "conditional":
        return conditionalTest(this, node, wanted);
      case "macro":
        return macroTest(this, node, wanted);
      case "call":
        return comparisonTest(this, node, wanted);
      default:
        return undefined;
    }
  }

  /** Whether TypeScript, too, knows nothing of a value, so that it may be compared with anything. */
  #isUntyped(node: Node): boolean {
    if (this.checked.typeOf(node).kind === "bool") return true;
    return node.kind === "name" || node.kind === "select" || node.kind === "index";
  }

  /** `emitted === other`, as far as TypeScript lets it be written; else as `isExactly`. */
  strict(emitted: EmittedValue, other: EmittedValue): EmittedValue {
    const known = this.narrowing.constantOf(emitted);
    const constant = literalIn(other);
    if (known !== undefined && ["string", "number", "bigint"].includes(typeof constant)) {
      return known === constant ? ALWAYS : NEVER;
    }
    const isRootAndNull = emitted.isJsonRoot === true && constant === null;
    if (this.narrowing.has(emitted) || isRootAndNull) return this.isExactly(emitted, other);
    return equality(emitted.expression, other.expression);
  }

  /** The same through a helper, which takes any types and narrows nothing. */
  isExactly(emitted: EmittedValue, other: EmittedValue): EmittedValue {
    return this.call("values/compare#isSame", [emitted, other], { ts: "boolean", mayFail: false });
  }
}

/** What a mistaken part of an unchecked expression becomes: an error. */
const FAILURE: EmittedValue = { expression: value(undefined), ts: "unknown", mayFail: true };

const ALWAYS: EmittedValue = test(value(true));
const NEVER: EmittedValue = test(value(false));
