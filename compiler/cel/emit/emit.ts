import type { CheckedExpression } from "../check/check.ts";
import type { Constants } from "../evaluate/fold.ts";
import type { LiteralValue, Node } from "../parse/ast.ts";
import type { Declaration } from "../variables/environment.ts";
import { atPrecedence, type Code, callText, EmitContext, PRECEDENCE } from "./code.ts";
import { negated } from "./code-parts.ts";
import { emitCall } from "./emit-call.ts";
import { boxDouble, constantValue, typeValue } from "./emit-constant.ts";
import { emitList, emitLiteral, emitMap } from "./emit-literal.ts";
import { conditionalTest, conditionalValue, logicalTest, logicalValue } from "./emit-logic.ts";
import { emitMacro, macroTest } from "./emit-macro.ts";
import { comparisonTest } from "./emit-operator.ts";
import { emitIndex, emitPresence, emitSelect } from "./emit-select.ts";
import { Narrowing } from "./narrowing.ts";

/** A variable of a macro in the emitted code. Its text is a placeholder until every name is known. */
export interface Local {
  readonly name: string;
  readonly code: Code;
  isUsed: boolean;
}

/**
 * Turns a checked expression into TypeScript. There are three ways to emit a node: `value` gives the CEL value or
 * undefined for an error; `isTrue` gives a boolean that is true exactly when the node evaluates to true, `isFalse` one
 * that is true exactly when it evaluates to false. In the last two, CEL's rule that `false && error` is false and
 * `true || error` true costs nothing: `&&` and `||` are JavaScript's.
 */
export class Emitter {
  readonly checked: CheckedExpression;
  readonly context = new EmitContext();
  readonly variables = new Set<string>();
  readonly reads = new Map<string, readonly string[]>();
  readonly locals: Local[] = [];
  readonly narrowing = new Narrowing();
  /** How many loops are around what is being emitted. */
  loopDepth = 0;
  readonly #constants: Constants | undefined;
  #localCount = 0;

  constructor(checked: CheckedExpression, constants?: Constants) {
    this.checked = checked;
    this.#constants = constants;
  }

  /** The constant that a node evaluates to, when folding found it. */
  constantOf(node: Node): LiteralValue | undefined {
    return this.#constants?.literalOf(node);
  }

  /** The value, or undefined for an error. */
  value(node: Node): Code {
    if (this.checked.isMistake(node)) return FAILURE;
    const constant = this.constantOf(node);
    if (constant !== undefined) return emitLiteral(this, constant);
    const typeName = this.checked.typeNameOf(node);
    if (typeName !== undefined) return typeValue(this, typeName);
    if (this.#constants?.isConstant(node)) return constantValue(this, node, this.#valueOf(node));
    return this.#valueOf(node);
  }

  #valueOf(node: Node): Code {
    switch (node.kind) {
      case "literal":
        return emitLiteral(this, node.literal);
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
  isTrue(node: Node): Code {
    return this.test(node, true);
  }

  /** A boolean: whether the node evaluates to false. */
  isFalse(node: Node): Code {
    return this.test(node, false);
  }

  /** A boolean: whether the node evaluates to anything but false; an error is no false. */
  isNotFalse(node: Node): Code {
    return this.test(node, false, true);
  }

  /** A value in the form that helpers and containers take: a double is told from an int. */
  boxed(node: Node): Code {
    return this.box(this.value(node));
  }

  /** The same for code that is there. */
  box(code: Code): Code {
    return boxDouble(this, code);
  }

  /** A call of a runtime helper. */
  call(helper: string, args: readonly { readonly text: string }[], result?: Partial<Code>): Code {
    const name = this.context.helper(helper);
    return {
      text: callText(
        name,
        args.map(({ text }) => text),
      ),
      level: PRECEDENCE.primary,
      ts: "unknown",
      mayFail: true,
      ...result,
    };
  }

  /** A module constant made by a helper, and its name. */
  hoist(proposal: string, text: string, ...helpers: readonly string[]): string {
    const imports = helpers.map((helper) => {
      const [module = "", name = ""] = helper.split("#");
      return { module: `gwc/runtime/cel/${module}`, name };
    });
    return this.context.constant(proposal, text, imports);
  }

  /** Notes what a declared variable needs, and gives its code. */
  declared(declaration: Declaration, code: Code): Code {
    this.read(declaration.path.split("."));
    for (const variable of declaration.variables) this.variables.add(variable);
    for (const helper of declaration.helpers) this.context.helper(helper);
    return code;
  }

  /** Notes that the expression reads a path, for what the route has to collect. */
  read(path: readonly string[]): void {
    this.reads.set(path.join("."), path);
  }

  /** Emits a part of a chain of selections: what is read is the chain's path, whatever the part notes. */
  readingOnly(path: readonly string[], emit: () => Code): Code {
    const before = [...this.reads];
    const code = emit();
    this.reads.clear();
    for (const [key, known] of before) this.reads.set(key, known);
    this.read(path);
    return code;
  }

  /** Emits what sees a new macro variable. */
  withLocal<Result>(name: string, code: Partial<Code>, emit: (local: Local) => Result): Result {
    this.#localCount += 1;
    const text = localPlaceholder(name, this.#localCount);
    const local: Local = {
      name,
      code: {
        ts: "unknown",
        mayFail: false,
        ...code,
        text,
        level: PRECEDENCE.primary,
        isSimple: true,
      },
      isUsed: false,
    };
    this.locals.push(local);
    const result = emit(local);
    this.locals.pop();
    return result;
  }

  #name(node: Extract<Node, { kind: "name" }>): Code {
    const local = this.locals.findLast(({ name }) => name === node.name);
    if (local !== undefined) {
      local.isUsed = true;
      return local.code;
    }
    const declaration = this.checked.declarationOf(node);
    if (declaration?.code === undefined) throw new Error(`no code for variable "${node.name}"`);
    return this.declared(declaration, declaration.code);
  }

  /** A boolean: whether the node evaluates to `wanted`; with `isOpposite`, whether it does not. */
  test(node: Node, wanted: boolean, isOpposite = false): Code {
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
  #plainTest(node: Node, wanted: boolean): Code {
    const special =
      this.constantOf(node) === undefined ? this.#specialTest(node, wanted) : undefined;
    if (special !== undefined) return special;
    const code = this.value(node);
    if (code.ts === "boolean" && !code.mayFail) return wanted ? code : negated(code);
    // what is no bool is neither true nor false
    if (code.ts !== "boolean" && code.ts !== "unknown") return negated(ALWAYS);
    return this.#isUntyped(node)
      ? this.strict(code, { text: String(wanted), level: PRECEDENCE.primary })
      : this.isExactly(code, String(wanted));
  }

  /** Nodes whose test is shorter than a comparison of their value. */
  #specialTest(node: Node, wanted: boolean): Code | undefined {
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

  /** `code === constant`, as far as TypeScript lets it be written; else as `isExactly`. */
  strict(code: Code, constant: { readonly text: string; readonly level: number }): Code {
    const known = this.narrowing.constantOf(code);
    if (known !== undefined && /^("|-?\d)/.test(constant.text)) {
      return known === constant.text ? ALWAYS : negated(ALWAYS);
    }
    const isRootAndNull = code.isJsonRoot === true && constant.text === "null";
    if (this.narrowing.has(code) || isRootAndNull) return this.isExactly(code, constant.text);
    const operands = [
      atPrecedence(code, PRECEDENCE.relation),
      atPrecedence(constant, PRECEDENCE.relation),
    ];
    return {
      text: operands.join(" === "),
      opposite: { text: operands.join(" !== "), level: PRECEDENCE.equality },
      level: PRECEDENCE.equality,
      ts: "boolean",
      mayFail: false,
    };
  }

  /** The same through a helper, which takes any types and narrows nothing. */
  isExactly(code: Code, constant: string): Code {
    const operands = [code, { text: constant }];
    return this.call("values/compare#isSame", operands, { ts: "boolean", mayFail: false });
  }
}

/** What a mistaken part of an unchecked expression becomes: an error. */
const FAILURE: Code = {
  text: "undefined",
  level: PRECEDENCE.primary,
  ts: "unknown",
  mayFail: true,
};

const ALWAYS: Code = { text: "true", level: PRECEDENCE.primary, ts: "boolean", mayFail: false };

/** The placeholder of a macro's variable: `finishNames` gives it a name that nothing else has. */
export function localPlaceholder(name: string, id: number): string {
  return `\ue003${name}\ue004${id}\ue003`;
}
