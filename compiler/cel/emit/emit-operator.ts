import { binary, call, member, value } from "../../../templates/code/syntax.ts";
import type { CallNode, Node } from "../parse/ast.ts";
import { constantString } from "./emit-literal.ts";
import { headerCode, presenceOf } from "./emit-select.ts";
import {
  type EmittedValue,
  equality,
  isLiteral,
  joined,
  literalIn,
  negated,
  setOf,
  simple,
  test,
} from "./emitted-value.ts";
import type { Emitter } from "./emitter.ts";

/** Maximum number of strings in `x in [...]` that become a chain of comparisons; larger lists become a Set. */
export const CHAIN_LENGTH = 16;

/**
 * Emits a comparison as a test, which is shorter than its value because an error and a false result need not be
 * distinguished.
 */
export function comparisonTest(
  emitter: Emitter,
  node: CallNode,
  wanted: boolean,
): EmittedValue | undefined {
  switch (node.name) {
    case "==":
      return equalityTest(emitter, node, wanted);
    case "!=":
      return equalityTest(emitter, node, !wanted);
    case "in":
      return membershipTest(emitter, node, wanted);
    default:
      return undefined;
  }
}

/** Emits a comparison, a membership test or an arithmetic operator as a value; `undefined` for other calls. */
export function operatorValue(emitter: Emitter, node: CallNode): EmittedValue | undefined {
  switch (node.name) {
    case "==":
    case "!=":
      return equalityValue(emitter, node);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return orderValue(emitter, node, node.name);
    case "in":
      return membershipValue(emitter, node);
    case "!":
      return notValue(emitter, node);
    case "+":
    case "-":
    case "*":
      return arithmeticValue(emitter, node, node.name);
    case "/":
    case "%":
      return divisionValue(emitter, node);
    default:
      return undefined;
  }
}

function equalityTest(emitter: Emitter, node: CallNode, wanted: boolean): EmittedValue {
  const [left, right] = operandsOf(emitter, node);
  const isStrict = canCompareStrictly(left, right);
  if (isStrict && (wanted ? !(left.mayFail && right.mayFail) : !(left.mayFail || right.mayFail))) {
    const inline = strictEquality(emitter, left, right);
    return wanted ? inline : negated(inline);
  }
  const operands = [emitter.box(left), emitter.box(right)];
  if (!wanted)
    return emitter.call("values/compare#differs", operands, { ts: "boolean", mayFail: false });
  const { expression } = emitter.call("values/compare#equal", operands);
  return equality(expression, value(true));
}

function equalityValue(emitter: Emitter, node: CallNode): EmittedValue {
  const [left, right] = operandsOf(emitter, node);
  if (canCompareStrictly(left, right) && !left.mayFail && !right.mayFail) {
    const inline = strictEquality(emitter, left, right);
    return node.name === "==" ? inline : negated(inline);
  }
  const operands = [emitter.box(left), emitter.box(right)];
  const equal = emitter.call("values/compare#equal", operands, { ts: "boolean" });
  return node.name === "==" ? equal : emitter.call("values/logic#not", [equal], { ts: "boolean" });
}

function strictEquality(emitter: Emitter, left: EmittedValue, right: EmittedValue): EmittedValue {
  // A constant is easier to read on the right.
  const isTurned = isLiteral(left) && !isLiteral(right);
  return isTurned ? emitter.strict(right, left) : emitter.strict(left, right);
}

/** Whether `===` is equivalent to equality in CEL for values that are not errors. */
function canCompareStrictly(left: EmittedValue, right: EmittedValue): boolean {
  if (literalIn(left) === null || literalIn(right) === null) return true;
  if (left.ts === "string" || left.ts === "boolean") {
    return right.ts === left.ts || right.ts === "unknown";
  }
  if (right.ts === "string" || right.ts === "boolean") return left.ts === "unknown";
  const isJsonNumber = (code: EmittedValue) => code.ts === "unknown" && code.isJson === true;
  if (left.ts === "number") return right.ts === "number" || isJsonNumber(right);
  return right.ts === "number" && isJsonNumber(left);
}

const ORDER_HELPERS = {
  "<": "values/compare#less",
  "<=": "values/compare#lessOrEqual",
  ">": "values/compare#greater",
  ">=": "values/compare#greaterOrEqual",
} as const;

const OPPOSITES = { "<": ">=", "<=": ">", ">": "<=", ">=": "<" } as const;

function orderValue(
  emitter: Emitter,
  node: CallNode,
  operator: keyof typeof ORDER_HELPERS,
): EmittedValue {
  const [left, right] = operandsOf(emitter, node);
  const isNumber = (code: EmittedValue) =>
    code.ts === "number" || (code.ts === "int" && !code.isRawDouble);
  const hasDouble = left.isRawDouble === true || right.isRawDouble === true;
  const isPlain = hasDouble
    ? left.ts === "number" && right.ts === "number"
    : isNumber(left) && isNumber(right);
  if (!isPlain || left.mayFail || right.mayFail) {
    return emitter.call(ORDER_HELPERS[operator], [emitter.box(left), emitter.box(right)], {
      ts: "boolean",
    });
  }
  const operands = [left.expression, right.expression];
  // NaN is neither less nor greater.
  if (hasDouble) return test(binary(operator, operands));
  return test(binary(operator, operands), binary(OPPOSITES[operator], operands));
}

function membershipTest(
  emitter: Emitter,
  node: CallNode,
  wanted: boolean,
): EmittedValue | undefined {
  const [needle, container] = node.args;
  if (needle === undefined || container === undefined) return undefined;
  const names = stringElements(emitter, container);
  if (names === undefined || names.length === 0) return undefined;
  const item = emitter.value(needle);
  if (wanted || !item.mayFail) return isAmong(emitter, names, item, wanted);
  return equality(includes(emitter, container, item).expression, value(false));
}

/** Emits whether an item is one of some strings, or with `wanted` false whether it is not. */
export function isAmong(
  emitter: Emitter,
  names: readonly string[],
  item: EmittedValue,
  wanted: boolean,
): EmittedValue {
  if (item.isSimple && names.length <= CHAIN_LENGTH) {
    const tests = names.map((name) => strictEquality(emitter, item, simple(value(name), "string")));
    return wanted ? joined("||", tests) : joined("&&", tests.map(negated));
  }
  const set = setOf(names, "unknown");
  const has = test(call(member(set.expression, "has"), [item.expression]));
  return wanted ? has : negated(has);
}

/** Returns the strings of a list of constant strings; `undefined` for other lists. */
function stringElements(emitter: Emitter, node: Node): readonly string[] | undefined {
  if (node.kind !== "list") return undefined;
  const names: string[] = [];
  for (const element of node.elements) {
    const name = constantString(emitter, element);
    if (name === undefined) return undefined;
    names.push(name);
  }
  return names;
}

function membershipValue(emitter: Emitter, node: CallNode): EmittedValue {
  const [needle, container] = node.args;
  if (needle === undefined || container === undefined) throw new Error("`in` lacks an operand");
  const key = constantString(emitter, needle);
  if (key !== undefined) {
    const header = headerCode(emitter, container, key);
    if (header !== undefined) return presenceOf(header);
  }
  const names = stringElements(emitter, container);
  const item = emitter.value(needle);
  if (names !== undefined && names.length > 0 && !item.mayFail) {
    return isAmong(emitter, names, item, true);
  }
  return includes(emitter, container, item);
}

function includes(emitter: Emitter, container: Node, item: EmittedValue): EmittedValue {
  const operands = [emitter.value(container), emitter.box(item)];
  return emitter.call("values/compare#includes", operands, { ts: "boolean" });
}

function notValue(emitter: Emitter, node: CallNode): EmittedValue {
  const [operand] = node.args;
  if (operand === undefined) throw new Error("`!` lacks an operand");
  const code = emitter.value(operand);
  if (code.ts === "boolean" && !code.mayFail) return negated(code);
  return emitter.call("values/logic#not", [code], { ts: "boolean" });
}

/** Emits the two operands of an operator as values. */
function operandsOf(emitter: Emitter, node: CallNode): readonly [EmittedValue, EmittedValue] {
  const [left, right] = emitter.checked.callOf(node)?.args ?? node.args;
  if (left === undefined || right === undefined) throw new Error(`"${node.name}" lacks an operand`);
  return [emitter.value(left), emitter.value(right)];
}

const ARITHMETIC_HELPERS = {
  "+": "values/numbers#add",
  "-": "values/numbers#subtract",
  "*": "values/numbers#multiply",
} as const;

/**
 * Emits sums and products: with the operators of JavaScript if the result is known to be in the safe range, or if both
 * operands are doubles.
 */
function arithmeticValue(
  emitter: Emitter,
  node: CallNode,
  operator: "+" | "-" | "*",
): EmittedValue {
  if (node.args.length === 1) return negationValue(emitter, node);
  const [left, right] = operandsOf(emitter, node);
  const range = rangeOf(operator, left, right);
  const isDouble = left.isRawDouble === true && right.isRawDouble === true;
  // A bound string may be concatenated repeatedly and become too long.
  const isText =
    operator === "+" &&
    [left, right].every(({ ts, expression }) => ts === "string" && expression.kind !== "local");
  const isPlain = range !== undefined || isDouble || isText;
  if (!isPlain || left.mayFail || right.mayFail) {
    return emitter.call(ARITHMETIC_HELPERS[operator], [emitter.box(left), emitter.box(right)]);
  }
  return {
    expression: binary(operator, [left.expression, right.expression]),
    ts: isText ? "string" : "number",
    mayFail: false,
    ...(range === undefined ? {} : { range }),
    ...(isDouble ? { isRawDouble: true } : {}),
  };
}

function negationValue(emitter: Emitter, node: CallNode): EmittedValue {
  const [operand] = node.args;
  if (operand === undefined) throw new Error("`-` lacks an operand");
  const code = emitter.boxed(operand);
  return emitter.call("values/numbers#negate", [code]);
}

/** Returns the range of an int result if it is within the safe integers. */
function rangeOf(
  operator: "+" | "-" | "*",
  left: EmittedValue,
  right: EmittedValue,
): readonly [number, number] | undefined {
  if (left.range === undefined || right.range === undefined) return undefined;
  const [a, b] = left.range;
  const [c, d] = right.range;
  const ends = {
    "+": [a + c, b + d],
    "-": [a - d, b - c],
    "*": [a * c, a * d, b * c, b * d],
  }[operator].map((end) => end + 0);
  // A product with zero could be -0, which is not an int.
  if (operator === "*" && (a < 0 || c < 0)) return undefined;
  const range = [Math.min(...ends), Math.max(...ends)] as const;
  return range.every(Number.isSafeInteger) ? range : undefined;
}

/** Emits quotients and remainders: with the operators of JavaScript only for doubles. */
function divisionValue(emitter: Emitter, node: CallNode): EmittedValue {
  const [left, right] = operandsOf(emitter, node);
  const isDouble = left.isRawDouble === true && right.isRawDouble === true;
  if (isDouble && node.name === "/" && !left.mayFail && !right.mayFail) {
    return {
      expression: binary("/", [left.expression, right.expression]),
      ts: "number",
      mayFail: false,
      isRawDouble: true,
    };
  }
  const helper = node.name === "/" ? "values/numbers#divide" : "values/numbers#modulo";
  return emitter.call(helper, [emitter.box(left), emitter.box(right)]);
}
