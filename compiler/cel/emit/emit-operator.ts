import type { CallNode, Node } from "../parse/ast.ts";
import { atPrecedence, type Code, PRECEDENCE, stringLiteral } from "./code.ts";
import { arrayText, joined, negated } from "./code-parts.ts";
import type { Emitter } from "./emit.ts";
import { arithmeticValue, divisionValue, operandsOf } from "./emit-arithmetic.ts";
import { constantString } from "./emit-literal.ts";
import { headerCode, presenceOf } from "./emit-select.ts";

function isTrue({ text }: Code): Code {
  return {
    text: `${text} === true`,
    opposite: { text: `${text} !== true`, level: PRECEDENCE.equality },
    level: PRECEDENCE.equality,
    ts: "boolean",
    mayFail: false,
  };
}

/** Up to so many strings, `x in [...]` is a chain of comparisons; above, a Set. */
const CHAIN_LENGTH = 16;

/** A comparison as a test: shorter than its value where an error and a wrong value need not be told apart. */
export function comparisonTest(
  emitter: Emitter,
  node: CallNode,
  wanted: boolean,
): Code | undefined {
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

/** A comparison, a membership or an arithmetic operator as a value; undefined for other calls. */
export function operatorValue(emitter: Emitter, node: CallNode): Code | undefined {
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

function equalityTest(emitter: Emitter, node: CallNode, wanted: boolean): Code {
  const [left, right] = operandsOf(emitter, node);
  const isStrict = canCompareStrictly(left, right);
  if (isStrict && (wanted ? !(left.mayFail && right.mayFail) : !(left.mayFail || right.mayFail))) {
    const inline = strictEquality(emitter, left, right);
    return wanted ? inline : negated(inline);
  }
  const operands = [emitter.box(left), emitter.box(right)];
  if (!wanted)
    return emitter.call("values/compare#differs", operands, { ts: "boolean", mayFail: false });
  return isTrue(emitter.call("values/compare#equal", operands));
}

function equalityValue(emitter: Emitter, node: CallNode): Code {
  const [left, right] = operandsOf(emitter, node);
  if (canCompareStrictly(left, right) && !left.mayFail && !right.mayFail) {
    const inline = strictEquality(emitter, left, right);
    return node.name === "==" ? inline : negated(inline);
  }
  const operands = [emitter.box(left), emitter.box(right)];
  const equal = emitter.call("values/compare#equal", operands, { ts: "boolean" });
  return node.name === "==" ? equal : emitter.call("values/logic#not", [equal], { ts: "boolean" });
}

function strictEquality(emitter: Emitter, left: Code, right: Code): Code {
  // a constant reads better on the right
  const isTurned = isConstantText(left) && !isConstantText(right);
  return isTurned ? emitter.strict(right, left) : emitter.strict(left, right);
}

function isConstantText(code: Code): boolean {
  return /^("|-?\d|true$|false$|null$)/.test(code.text);
}

/** Whether `===` says what CEL's equality says, for values that are there. */
function canCompareStrictly(left: Code, right: Code): boolean {
  if (left.text === "null" || right.text === "null") return true;
  if (left.ts === "string" || left.ts === "boolean") {
    return right.ts === left.ts || right.ts === "unknown";
  }
  if (right.ts === "string" || right.ts === "boolean") return left.ts === "unknown";
  const isJsonNumber = (code: Code) => code.ts === "unknown" && code.isJson === true;
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

function orderValue(emitter: Emitter, node: CallNode, operator: keyof typeof ORDER_HELPERS): Code {
  const [left, right] = operandsOf(emitter, node);
  const isNumber = (code: Code) => code.ts === "number" || (code.ts === "int" && !code.isRawDouble);
  const hasDouble = left.isRawDouble === true || right.isRawDouble === true;
  const isPlain = hasDouble
    ? left.ts === "number" && right.ts === "number"
    : isNumber(left) && isNumber(right);
  if (!isPlain || left.mayFail || right.mayFail) {
    return emitter.call(ORDER_HELPERS[operator], [emitter.box(left), emitter.box(right)], {
      ts: "boolean",
    });
  }
  const [first, second] = [atPrecedence(left, PRECEDENCE.sum), atPrecedence(right, PRECEDENCE.sum)];
  return {
    text: `${first} ${operator} ${second}`,
    level: PRECEDENCE.relation,
    ts: "boolean",
    mayFail: false,
    // NaN is neither less nor greater
    ...(hasDouble
      ? {}
      : {
          opposite: {
            text: `${first} ${OPPOSITES[operator]} ${second}`,
            level: PRECEDENCE.relation,
          },
        }),
  };
}

function membershipTest(emitter: Emitter, node: CallNode, wanted: boolean): Code | undefined {
  const [needle, container] = node.args;
  if (needle === undefined || container === undefined) return undefined;
  const names = stringElements(emitter, container);
  if (names === undefined || names.length === 0) return undefined;
  const item = emitter.value(needle);
  if (!wanted && item.mayFail) return undefined;
  if (item.isSimple && names.length <= CHAIN_LENGTH) {
    const tests = names.map((name) => strictEquality(emitter, item, stringCode(name)));
    return wanted ? joined("||", tests) : joined("&&", tests.map(negated));
  }
  const set = nameSet(emitter, names);
  const has: Code = {
    text: `${set}.has(${item.text})`,
    level: PRECEDENCE.primary,
    ts: "boolean",
    mayFail: false,
  };
  return wanted ? has : negated(has);
}

function nameSet(emitter: Emitter, names: readonly string[]): string {
  const elements = arrayText(names.map(stringLiteral));
  return emitter.context.constant("names", `new Set(${elements})`, [], "ReadonlySet<unknown>");
}

function stringCode(value: string): Code {
  return { text: stringLiteral(value), level: PRECEDENCE.primary, ts: "string", mayFail: false };
}

/** The strings of a list of nothing but constant strings. */
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

function membershipValue(emitter: Emitter, node: CallNode): Code {
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
    const test = membershipTest(emitter, node, true);
    if (test !== undefined) return test;
  }
  const operands = [emitter.value(container), emitter.box(item)];
  return emitter.call("values/compare#includes", operands, { ts: "boolean" });
}

function notValue(emitter: Emitter, node: CallNode): Code {
  const [operand] = node.args;
  if (operand === undefined) throw new Error("`!` lacks an operand");
  const code = emitter.value(operand);
  if (code.ts === "boolean" && !code.mayFail) return negated(code);
  return emitter.call("values/logic#not", [code], { ts: "boolean" });
}
