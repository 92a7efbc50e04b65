import type {
  Expression,
  ImportSymbol,
  Operator,
  ValueExpression,
} from "../../../templates/code/hole.ts";
import { imported, name } from "../../../templates/code/names.ts";
import {
  binary,
  constant,
  construction,
  listExpression,
  negation,
  ternary,
  value,
} from "../../../templates/code/syntax.ts";

/** TypeScript type of a value that exists: unknown, one of these types, or another one. An `int` is a bigint. */
export type TsType = "boolean" | "string" | "number" | "int" | "bytes" | "unknown" | "other";

/** A TypeScript expression for a CEL value, and its known properties. */
export interface EmittedValue {
  readonly expression: Expression;
  readonly ts: TsType;
  /** Whether it may be undefined, which is an evaluation error. */
  readonly mayFail: boolean;
  /** Whether it is cheap and short enough to be repeated. */
  readonly isSimple?: boolean;
  /** Whether it comes unchanged from parsed JSON, so that a number in it is a JavaScript number. */
  readonly isJson?: boolean;
  /** Whether it is always a JSON object or null: `jwt`. */
  readonly isJsonRoot?: boolean;
  /** Whether it is a double as a JavaScript number, which may be integral. */
  readonly isRawDouble?: boolean;
  /** Minimum and maximum of an int, if they are known. */
  readonly range?: readonly [number, number];
  /** Opposite of a boolean, if there is a shorter form than with `!`. */
  readonly opposite?: Expression;
}

/** Returns a helper of the CEL runtime: `values/select#field`. */
export function helper(reference: string): ImportSymbol {
  const [module = "", symbol = ""] = reference.split("#");
  return imported(`gwc/runtime/cel/${module}`, symbol);
}

/** Creates a boolean that is never an error. */
export function test(expression: Expression, opposite?: Expression): EmittedValue {
  const known = { expression, ts: "boolean", mayFail: false } as const;
  return opposite === undefined ? known : { ...known, opposite };
}

/** Creates a name or a literal: short and never an error. */
export function simple(expression: Expression, ts: TsType): EmittedValue {
  return { expression, ts, mayFail: false, isSimple: true };
}

/** Returns the literal of a value; `undefined` if it is not a literal or the literal of an error. */
export function literalIn({ expression }: EmittedValue): ValueExpression["value"] {
  return expression.kind === "value" ? expression.value : undefined;
}

/** Whether a value is a literal other than that of an error. */
export function isLiteral(emitted: EmittedValue): boolean {
  return literalIn(emitted) !== undefined;
}

/** Creates a set of strings, which is declared once. */
export function setOf(names: readonly string[], element: "string" | "unknown"): EmittedValue {
  const made = construction(name("Set"), [listExpression(names.map((each) => value(each)))]);
  return simple(constant("names", made, `ReadonlySet<${element}>`), "other");
}

/** Creates `left === right` with its opposite. */
export function equality(left: Expression, right: Expression): EmittedValue {
  return test(binary("===", [left, right]), binary("!==", [left, right]));
}

/** Joins booleans with `&&` or `||`; constants are omitted, or decide. */
export function joined(operator: "&&" | "||", all: readonly EmittedValue[]): EmittedValue {
  const decisive = all.find((each) => literalIn(each) === (operator === "||"));
  if (decisive !== undefined) return decisive;
  const open = all.filter((each) => typeof literalIn(each) !== "boolean");
  const emitted = open.length === 0 ? all.slice(0, 1) : open;
  const [only] = emitted;
  if (emitted.length === 1 && only !== undefined) return only;
  const operands = emitted.flatMap(({ expression }) => operandsOf(expression, operator));
  return test(chainOf(operator, operands));
}

/** Operands of a chain without parentheses. TypeScript's depth of calls grows with them, and ends at about 1,000. */
const MAX_CHAIN = 250;

/** Joins operands; a long chain consists of shorter ones in parentheses. */
function chainOf(operator: Operator, operands: readonly Expression[]): Expression {
  if (operands.length <= MAX_CHAIN) return binary(operator, operands);
  const parts: Expression[] = [];
  for (let start = 0; start < operands.length; start += MAX_CHAIN)
    parts.push(binary(operator, operands.slice(start, start + MAX_CHAIN)));
  return binary(operator, parts);
}

/** Returns the opposite of a boolean that is never an error. */
export function negated(emitted: EmittedValue): EmittedValue {
  const literal = literalIn(emitted);
  if (typeof literal === "boolean") return { ...emitted, expression: value(!literal) };
  return test(emitted.opposite ?? negation(emitted.expression), emitted.expression);
}

/** Creates `test ? consequent : alternate` for a test that is never an error. */
export function chosenBy(
  { expression }: EmittedValue,
  consequent: EmittedValue,
  alternate: EmittedValue,
  ts: TsType,
): EmittedValue {
  return {
    expression: ternary(expression, consequent.expression, alternate.expression),
    ts,
    mayFail: consequent.mayFail || alternate.mayFail,
    ...(consequent.isRawDouble && alternate.isRawDouble ? { isRawDouble: true } : {}),
  };
}

/** Returns the operands of a chain of the same operator. */
function operandsOf(expression: Expression, operator: Operator): readonly Expression[] {
  return expression.kind === "binary" && expression.operator === operator
    ? expression.operands
    : [expression];
}
