import type { Expression, LocalName } from "../../../templates/code/hole.ts";
import { call, constant, construction, local, value } from "../../../templates/code/syntax.ts";
import type { PickedParameters } from "../../model/expressions.ts";
import type { CheckedExpression } from "../check/checked-expression.ts";
import type { Constants } from "../evaluate/fold.ts";
import type { LiteralValue, Node } from "../parse/ast.ts";
import type { Declaration } from "../variables/environment.ts";
import { type EmittedValue, equality, helper, literalIn, simple, test } from "./emitted-value.ts";
import { Narrowing } from "./narrowing.ts";

/** Data that the emitted part of an expression reads, which the route must collect. */
class DataReads {
  readonly #variables = new Set<string>();
  readonly #parameters = {
    cookies: new Set<string | undefined>(),
    query: new Set<string | undefined>(),
  };
  #paths: ReadonlyMap<string, readonly string[]> = new Map();

  /** Variables of the emitted function that its code reads: `request`. */
  get variables(): ReadonlySet<string> {
    return this.#variables;
  }

  /** Paths that are read, each once, sorted. */
  get paths(): readonly (readonly string[])[] {
    return [...this.#paths.keys()].sort().flatMap((key) => [this.#paths.get(key) ?? []]);
  }

  /** Cookies and query parameters that are read by name. */
  get parameters(): PickedParameters | undefined {
    const { cookies, query } = this.#parameters;
    if (cookies.size + query.size === 0) return undefined;
    return { cookies: namesIn(cookies), query: namesIn(query) };
  }

  /** Records a cookie or query parameter; `undefined` if its name is only known at run time. */
  parameter(kind: keyof PickedParameters, name: string | undefined): void {
    this.#parameters[kind].add(name);
  }

  /** Records a declared variable, or a path below it. */
  declared({ path, variable }: Declaration, below: readonly string[] = []): void {
    this.#read([...path.split("."), ...below]);
    if (variable !== undefined) this.#variables.add(variable);
  }

  /** Emits a part of a chain of selections, and records only the path of the whole chain. */
  only<Result>(path: readonly string[], emit: () => Result): Result {
    const before = this.#paths;
    const emitted = emit();
    this.#paths = before;
    this.#read(path);
    return emitted;
  }

  #read(path: readonly string[]): void {
    const key = path.join(".");
    if (!this.#paths.has(key)) this.#paths = new Map([...this.#paths, [key, path]]);
  }
}

function namesIn(names: ReadonlySet<string | undefined>): PickedParameters["query"] {
  return names.has(undefined) ? "any" : [...names].flatMap((name) => name ?? []).sort();
}

/** Emits nodes by their kind, and asks the emitter for the nodes below them. */
export interface NodeEmitters {
  /** Emits the value of a node that is neither a mistake nor a known constant. */
  value(emitter: Emitter, node: Node): EmittedValue;
  /** Emits a boolean: whether the node evaluates to `wanted`; with `isOpposite`, whether it does not. */
  test(emitter: Emitter, node: Node, wanted: boolean, isOpposite: boolean): EmittedValue;
}

/**
 * Emits one expression as TypeScript; how each kind of node is emitted is passed to it. There are three ways to emit a
 * node: `value` returns the CEL value, or undefined for an error; `isTrue` returns a boolean that is true exactly if the
 * node is true, `isFalse` one that is true exactly if it is false. For the latter two, CEL's rule that `false && error`
 * is false and `true || error` is true needs no extra code: `&&` and `||` are those of JavaScript.
 */
export class Emitter {
  readonly checked: CheckedExpression;
  readonly reads = new DataReads();
  readonly scope = new MacroScope();
  readonly narrowing = new Narrowing();
  readonly #emitters: NodeEmitters;
  readonly #constants: Constants | undefined;

  constructor(checked: CheckedExpression, emitters: NodeEmitters, constants?: Constants) {
    this.checked = checked;
    this.#emitters = emitters;
    this.#constants = constants;
  }

  /** Returns the constant result of a node, if folding found one. */
  constantOf(node: Node): LiteralValue | undefined {
    return this.#constants?.literalOf(node);
  }

  /** Emits the value, or undefined for an error. */
  value(node: Node): EmittedValue {
    if (this.checked.isMistake(node)) return FAILURE;
    const emitted = this.#emitters.value(this, node);
    const isConstant = this.constantOf(node) === undefined && this.#constants?.isConstant(node);
    return isConstant ? constantValue(this, node, emitted) : emitted;
  }

  /** Emits a boolean: whether the node is true. */
  isTrue(node: Node): EmittedValue {
    return this.test(node, true);
  }

  /** Emits a boolean: whether the node is false. */
  isFalse(node: Node): EmittedValue {
    return this.test(node, false);
  }

  /** Emits a boolean: whether the node is anything but false; an error is not false. */
  isNotFalse(node: Node): EmittedValue {
    return this.test(node, false, true);
  }

  /** Emits a value in the form for helpers and containers, in which a double differs from an int. */
  boxed(node: Node): EmittedValue {
    return this.box(this.value(node));
  }

  /** Boxes an emitted value. */
  box(emitted: EmittedValue): EmittedValue {
    return boxDouble(this, emitted);
  }

  /** Emits a call of a runtime helper. */
  call(
    reference: string,
    args: readonly { readonly expression: Expression }[],
    result?: Partial<EmittedValue>,
  ): EmittedValue {
    const expressions = args.map(({ expression }) => expression);
    const expression = call(helper(reference), expressions);
    return { expression, ts: "unknown", mayFail: true, ...result };
  }

  /** Emits a declared variable, and records what it reads. */
  declared(declaration: Declaration): EmittedValue {
    if (declaration.code === undefined) throw new Error(`no code for "${declaration.path}"`);
    this.reads.declared(declaration);
    return declaration.code;
  }

  /** Emits a boolean: whether the node evaluates to `wanted`; with `isOpposite`, whether it does not. */
  test(node: Node, wanted: boolean, isOpposite = false): EmittedValue {
    return this.#emitters.test(this, node, wanted, isOpposite);
  }

  /** Emits `emitted === other` if TypeScript accepts it, otherwise `isExactly`. */
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

  /** Emits a strict comparison through a helper, which accepts any types and narrows nothing. */
  isExactly(emitted: EmittedValue, other: EmittedValue): EmittedValue {
    return this.call("values/compare#isSame", [emitted, other], { ts: "boolean", mayFail: false });
  }
}

/** Code of an invalid part of an unchecked expression: an error. */
const FAILURE: EmittedValue = { expression: value(undefined), ts: "unknown", mayFail: true };

const ALWAYS: EmittedValue = test(value(true));
const NEVER: EmittedValue = test(value(false));

/** Emits a constant that is not a literal, which is created once when the module is loaded; `emitted` creates it. */
function constantValue(emitter: Emitter, node: Node, emitted: EmittedValue): EmittedValue {
  const { expression } = emitted;
  if (expression.kind === "constant" || expression.kind === "value") return emitted;
  const { kind } = emitter.checked.typeOf(node);
  return simple(constant(CONSTANT_NAMES.get(kind) ?? "constant", expression), "other");
}

/** Boxes a double that is a JavaScript number, so that helpers and containers can distinguish it from an int. */
function boxDouble(emitter: Emitter, emitted: EmittedValue): EmittedValue {
  if (emitted.isRawDouble !== true) return emitted;
  const number = literalIn(emitted);
  if (typeof number === "number" && Number.isFinite(number)) {
    const looksLikeInt = Number.isSafeInteger(number) && !Object.is(number, -0);
    if (!looksLikeInt) return { ...emitted, isRawDouble: false, ts: "unknown" };
    const proposal = `double${number < 0 ? "Minus" : ""}${Math.abs(number)}`;
    const made = construction(helper("values/values#Double"), [value(number)]);
    return simple(constant(proposal, made), "other");
  }
  const { mayFail } = emitted;
  return emitter.call("values/values#double", [emitted], { ts: "unknown", mayFail });
}

/** Names of constants by type. */
const CONSTANT_NAMES: ReadonlyMap<string, string> = new Map([
  ["list", "items"],
  ["map", "mapping"],
  ["timestamp", "instant"],
  ["duration", "period"],
  ["opaque", "network"],
]);

/** A variable of a macro in emitted code. */
interface EmittedVariable {
  readonly name: string;
  readonly emitted: EmittedValue;
}

/** Macros that enclose the part that is being emitted. */
class MacroScope {
  #variables: readonly EmittedVariable[] = [];
  #loopDepth = 0;

  /** Number of enclosing loops. */
  get loopDepth(): number {
    return this.#loopDepth;
  }

  /** Returns the innermost variable of a name. */
  variable(name: string): EmittedValue | undefined {
    return this.#variables.findLast((variable) => variable.name === name)?.emitted;
  }

  /** Runs an emitter with an additional variable and its known properties. */
  withVariable<Result>(
    name: string,
    known: Partial<EmittedValue>,
    emit: (parameter: LocalName) => Result,
  ): Result {
    const parameter = local(name);
    const emitted = { ...simple(parameter, "unknown"), ...known, expression: parameter };
    const around = this.#variables;
    this.#variables = [...around, { name, emitted: { ...emitted, isSimple: true } }];
    const result = emit(parameter);
    this.#variables = around;
    return result;
  }

  /** Runs an emitter for the inside of a loop. */
  inLoop<Result>(emit: () => Result): Result {
    this.#loopDepth += 1;
    const result = emit();
    this.#loopDepth -= 1;
    return result;
  }
}
