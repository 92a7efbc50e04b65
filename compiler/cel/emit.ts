import type { ExpressionCode } from "../ir.ts";
import type { LiteralValue, Node } from "./ast.ts";
import type { Checked } from "./check.ts";
import { atLevel, type Code, callText, LEVEL, Surroundings } from "./code.ts";
import { arrowBody, joined, negated, ternary } from "./code-parts.ts";
import { emitCall } from "./emit-call.ts";
import { emitList, emitLiteral, emitMap } from "./emit-literal.ts";
import { emitMacro, macroTest } from "./emit-macro.ts";
import { comparisonTest } from "./emit-operator.ts";
import { emitIndex, emitPresence, emitSelect } from "./emit-select.ts";
import type { Declaration } from "./environment.ts";
import type { Constants } from "./fold.ts";

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
  readonly checked: Checked;
  readonly surroundings = new Surroundings();
  readonly variables = new Set<string>();
  readonly reads = new Map<string, readonly string[]>();
  readonly locals: Local[] = [];
  readonly #constants: Constants | undefined;
  #localCount = 0;
  #narrowed = new Map<string, string | undefined>();

  constructor(checked: Checked, constants?: Constants) {
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
    if (typeName !== undefined) return this.#typeValue(typeName);
    if (this.#constants?.isConstant(node)) return this.#constantValue(node);
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
        return this.#logicalValue(node);
      case "conditional":
        return this.#conditionalValue(node);
      case "list":
        return emitList(this, node);
      case "map":
        return emitMap(this, node);
    }
  }

  /** A boolean: whether the node evaluates to true. */
  isTrue(node: Node): Code {
    return this.#test(node, true);
  }

  /** A boolean: whether the node evaluates to false. */
  isFalse(node: Node): Code {
    return this.#test(node, false);
  }

  /** A boolean: whether the node evaluates to anything but false; an error is no false. */
  isNotFalse(node: Node): Code {
    return this.#test(node, false, true);
  }

  /** A value in the form that helpers and containers take: a double is told from an int. */
  boxed(node: Node): Code {
    return this.box(this.value(node));
  }

  box(code: Code): Code {
    if (code.isRawDouble !== true) return code;
    const number = Number(code.text);
    if (Number.isFinite(number) && !(Number.isSafeInteger(number) && !Object.is(number, -0))) {
      return { ...code, isRawDouble: false, ts: "unknown" };
    }
    if (!Number.isNaN(number)) {
      const name = `double${code.text.replace("-", "Minus").replace(/\W/g, "_")}`;
      const text = this.hoist(name, `new Double(${code.text})`, "values#Double");
      return { text, level: LEVEL.primary, ts: "unknown", mayFail: false, isSimple: true };
    }
    return this.call("values#double", [code], { ts: "unknown", mayFail: code.mayFail });
  }

  /** A call of a runtime helper. */
  call(helper: string, args: readonly { readonly text: string }[], result?: Partial<Code>): Code {
    const name = this.surroundings.helper(helper);
    return {
      text: callText(
        name,
        args.map(({ text }) => text),
      ),
      level: LEVEL.primary,
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
    return this.surroundings.constant(proposal, text, imports);
  }

  /** Takes over the imports and constants of code made elsewhere. */
  adopt(code: ExpressionCode): void {
    for (const { module, name } of code.imports) {
      this.surroundings.helper(`${module.replace("gwc/runtime/cel/", "")}#${name}`);
    }
    for (const { name, text, imports, type } of code.constants) {
      this.surroundings.constant(name, text, imports, type);
    }
  }

  /** Notes what a declared variable needs, and gives its code. */
  declared(declaration: Declaration, code: Code): Code {
    this.read(declaration.path.split("."));
    for (const variable of declaration.variables) this.variables.add(variable);
    for (const helper of declaration.helpers) this.surroundings.helper(helper);
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
      code: { ts: "unknown", mayFail: false, ...code, text, level: LEVEL.primary, isSimple: true },
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

  #test(node: Node, wanted: boolean, isOpposite = false): Code {
    const special =
      this.constantOf(node) === undefined ? this.#joinedTest(node, wanted, isOpposite) : undefined;
    if (special !== undefined) return special;
    const test = this.#plainTest(node, wanted);
    return isOpposite ? negated(test) : test;
  }

  /** A test of what is no logical operator. */
  #plainTest(node: Node, wanted: boolean): Code {
    if (this.constantOf(node) === undefined) {
      if (node.kind === "conditional") return this.#conditionalTest(node, wanted);
      const special =
        node.kind === "macro"
          ? macroTest(this, node, wanted)
          : node.kind === "call"
            ? comparisonTest(this, node, wanted)
            : undefined;
      if (special !== undefined) return special;
    }
    const code = this.value(node);
    if (code.ts === "boolean" && !code.mayFail) return wanted ? code : negated(code);
    // what is no bool is neither true nor false
    if (code.ts !== "boolean" && code.ts !== "unknown") return negated(ALWAYS);
    return this.strict(
      code,
      { text: String(wanted), level: LEVEL.primary },
      !this.#isUntyped(node),
    );
  }

  /** Whether TypeScript, too, knows nothing of a value, so that it may be compared with anything. */
  #isUntyped(node: Node): boolean {
    if (this.checked.typeOf(node).kind === "bool") return true;
    return node.kind === "name" || node.kind === "select" || node.kind === "index";
  }

  /** `&&`, `||` and `!`: the opposite of a conjunction is the disjunction of the opposites. */
  #joinedTest(node: Node, wanted: boolean, isOpposite: boolean): Code | undefined {
    if (node.kind === "call" && node.name === "!" && node.args[0] !== undefined) {
      return this.#test(node.args[0], !wanted, isOpposite);
    }
    if (node.kind !== "logical") return undefined;
    const isConjunction = ((node.operator === "&&") === wanted) !== isOpposite;
    const before = new Map(this.#narrowed);
    const codes = node.operands.map((operand) => {
      const code = this.#test(operand, wanted, isOpposite);
      this.#narrow(code, isConjunction ? "===" : "!==");
      return code;
    });
    this.#narrowed = before;
    return joined(isConjunction ? "&&" : "||", codes);
  }

  /**
   * `code === constant`. TypeScript narrows a path that it has seen compared: comparing it again with another constant
   * would not type-check, though it is only never true. Then a helper compares, which narrows nothing.
   */
  strict(
    code: Code,
    constant: { readonly text: string; readonly level: number },
    isTyped = false,
  ): Code {
    const known = this.#narrowed.get(code.text);
    if (known !== undefined && /^("|-?\d)/.test(constant.text)) {
      return known === constant.text ? ALWAYS : negated(ALWAYS);
    }
    if (isTyped || this.isNarrowed(code) || (code.isJsonRoot && constant.text === "null")) {
      return this.call("compare#isSame", [code, constant], { ts: "boolean", mayFail: false });
    }
    const operands = [atLevel(code, LEVEL.relation), atLevel(constant, LEVEL.relation)];
    return {
      text: operands.join(" === "),
      opposite: { text: operands.join(" !== "), level: LEVEL.equality },
      level: LEVEL.equality,
      ts: "boolean",
      mayFail: false,
    };
  }

  /** Whether TypeScript has narrowed a path by a comparison before. */
  isNarrowed(code: Code): boolean {
    return this.#narrowed.has(code.text);
  }

  /** Notes the paths that the rest of a chain sees narrowed by a comparison, and to what if that is certain. */
  #narrow(code: Code, operator: "===" | "!=="): void {
    for (const [, path = "", found] of code.text.matchAll(/([^\s()!]+) ([!=]==) /g)) {
      if (found === operator && !this.#narrowed.has(path)) this.#narrowed.set(path, undefined);
    }
    const [, path = "", constant] = /^([^\s()!]+) === ("[^"\s]*"|-?\d+)$/.exec(code.text) ?? [];
    if (operator === "===" && constant !== undefined) this.#narrowed.set(path, constant);
  }

  /** A constant that is no literal is made once, when the module is loaded. */
  #constantValue(node: Node): Code {
    const code = this.#valueOf(node);
    // what is a name already is one of a constant
    if (/^\w+$/.test(code.text)) return code;
    const { kind } = this.checked.typeOf(node);
    const proposal = CONSTANT_NAMES.get(kind) ?? "constant";
    const text = this.surroundings.constant(proposal, code.text, []);
    return { text, level: LEVEL.primary, ts: "unknown", mayFail: false, isSimple: true };
  }

  #typeValue(name: string): Code {
    const proposal = `${name
      .split(".")
      .at(-1)
      ?.replace(/^[A-Z]/, (letter) => letter.toLowerCase())}Type`;
    const text = this.hoist(proposal, `new TypeValue("${name}")`, "types#TypeValue");
    return { text, level: LEVEL.primary, ts: "unknown", mayFail: false, isSimple: true };
  }

  #logicalValue(node: Extract<Node, { kind: "logical" }>): Code {
    const before = new Map(this.#narrowed);
    const operands = node.operands.map((operand) => {
      const code = this.value(operand);
      this.#narrow(code, node.operator === "&&" ? "===" : "!==");
      return code;
    });
    this.#narrowed = before;
    if (operands.every((code) => code.ts === "boolean" && !code.mayFail)) {
      return joined(node.operator, operands);
    }
    const helper = node.operator === "&&" ? "logic#and" : "logic#or";
    return this.call(helper, operands, { ts: "boolean" });
  }

  #conditionalTest(node: Extract<Node, { kind: "conditional" }>, wanted: boolean): Code {
    const test = this.value(node.test);
    const consequent = this.#test(node.consequent, wanted);
    const alternate = this.#test(node.alternate, wanted);
    if (test.ts === "boolean" && !test.mayFail)
      return ternary(test, consequent, alternate, "boolean");
    return this.strict(this.#chosen(test, consequent, alternate), TRUE);
  }

  #conditionalValue(node: Extract<Node, { kind: "conditional" }>): Code {
    const test = this.value(node.test);
    let consequent = this.value(node.consequent);
    let alternate = this.value(node.alternate);
    if (consequent.isRawDouble !== alternate.isRawDouble) {
      consequent = this.box(consequent);
      alternate = this.box(alternate);
    }
    if (test.ts === "boolean" && !test.mayFail) {
      const ts = consequent.ts === alternate.ts ? consequent.ts : "unknown";
      return ternary(test, consequent, alternate, ts);
    }
    return this.#chosen(test, this.box(consequent), this.box(alternate));
  }

  #chosen(test: Code, consequent: Code, alternate: Code): Code {
    if (consequent.isSimple && alternate.isSimple) {
      return this.call("logic#pick", [test, consequent, alternate]);
    }
    const later = (code: Code) => ({ text: `() => ${arrowBody(code)}` });
    return this.call("logic#choose", [test, later(consequent), later(alternate)]);
  }
}

/** What constants are called by their type. */
const CONSTANT_NAMES: ReadonlyMap<string, string> = new Map([
  ["list", "items"],
  ["map", "entries"],
  ["timestamp", "instant"],
  ["duration", "period"],
  ["opaque", "network"],
]);

/** What a mistaken part of an unchecked expression becomes: an error. */
const FAILURE: Code = { text: "undefined", level: LEVEL.primary, ts: "unknown", mayFail: true };

const ALWAYS: Code = { text: "true", level: LEVEL.primary, ts: "boolean", mayFail: false };

const TRUE = { text: "true", level: LEVEL.primary };

/** The placeholder of a macro's variable: `finishNames` gives it a name that nothing else has. */
export function localPlaceholder(name: string, id: number): string {
  return `\ue003${name}\ue004${id}\ue003`;
}
