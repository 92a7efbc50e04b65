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

/**
 * What TypeScript knows of a value that is not undefined: nothing (`unknown`), one of these types, or another one. An
 * `int` is a bigint.
 */
export type TsType = "boolean" | "string" | "number" | "int" | "bytes" | "unknown" | "other";

/** An expression of TypeScript that gives a CEL value, and what is known of it. */
export interface EmittedValue {
  readonly expression: Expression;
  readonly ts: TsType;
  /** Whether it may be undefined: an error of the evaluation. */
  readonly mayFail: boolean;
  /** Whether it is cheap and short enough to be written twice. */
  readonly isSimple?: boolean;
  /** Whether it comes from parsed JSON as it is, so that a number in it is a JavaScript number. */
  readonly isJson?: boolean;
  /** A JSON object or null, and nothing else: `jwt`. */
  readonly isJsonRoot?: boolean;
  /** A double in the form of a JavaScript number, `1` included. */
  readonly isRawDouble?: boolean;
  /** The smallest and largest number it can be, when it is an int and that is known. */
  readonly range?: readonly [number, number];
  /** The opposite of a boolean, when there is a shorter way to write it than with `!`. */
  readonly opposite?: Expression;
}

/** A helper of the CEL runtime: `values/select#field`. */
export function helper(reference: string): ImportSymbol {
  const [module = "", symbol = ""] = reference.split("#");
  return imported(`gwc/runtime/cel/${module}`, symbol);
}

/** A boolean that is always there. */
export function test(expression: Expression, opposite?: Expression): EmittedValue {
  const known = { expression, ts: "boolean", mayFail: false } as const;
  return opposite === undefined ? known : { ...known, opposite };
}

/** A name or a literal: always there, and short. */
export function simple(expression: Expression, ts: TsType): EmittedValue {
  return { expression, ts, mayFail: false, isSimple: true };
}

/** The literal that a value is; undefined when it is none, or the literal of an error. */
export function literalIn({ expression }: EmittedValue): ValueExpression["value"] {
  return expression.kind === "value" ? expression.value : undefined;
}

/** Whether a value is a literal; the one of an error is none. */
export function isLiteral(emitted: EmittedValue): boolean {
  return literalIn(emitted) !== undefined;
}

/** A set of strings, declared once. */
export function setOf(names: readonly string[], element: "string" | "unknown"): EmittedValue {
  const made = construction(name("Set"), [listExpression(names.map((each) => value(each)))]);
  return simple(constant("names", made, `ReadonlySet<${element}>`), "other");
}

/** `left === right`, with its opposite. */
export function equality(left: Expression, right: Expression): EmittedValue {
  return test(binary("===", [left, right]), binary("!==", [left, right]));
}

/** Booleans joined by `&&` or `||`. What is constant among them is left out, or decides. */
export function joined(operator: "&&" | "||", all: readonly EmittedValue[]): EmittedValue {
  const decisive = all.find((each) => literalIn(each) === (operator === "||"));
  if (decisive !== undefined) return decisive;
  const open = all.filter((each) => typeof literalIn(each) !== "boolean");
  const emitted = open.length === 0 ? all.slice(0, 1) : open;
  const [only] = emitted;
  if (emitted.length === 1 && only !== undefined) return only;
  return test(
    binary(
      operator,
      emitted.flatMap(({ expression }) => operandsOf(expression, operator)),
    ),
  );
}

/** The opposite of a boolean that is always there. */
export function negated(emitted: EmittedValue): EmittedValue {
  const literal = literalIn(emitted);
  if (typeof literal === "boolean") return { ...emitted, expression: value(!literal) };
  return test(emitted.opposite ?? negation(emitted.expression), emitted.expression);
}

/** `test ? consequent : alternate`, for a test that is always there. */
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

/** `a && b` in a chain of the same operator is two operands. */
function operandsOf(expression: Expression, operator: Operator): readonly Expression[] {
  return expression.kind === "binary" && expression.operator === operator
    ? expression.operands
    : [expression];
}
