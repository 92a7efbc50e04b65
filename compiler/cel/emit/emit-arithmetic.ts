import type { CallNode } from "../parse/ast.ts";
import { atPrecedence, type Code, PRECEDENCE } from "./code.ts";
import type { Emitter } from "./emit.ts";

/** The two operands of an operator, as values. */
export function operandsOf(emitter: Emitter, node: CallNode): readonly [Code, Code] {
  const [left, right] = node.args;
  if (left === undefined || right === undefined) throw new Error(`"${node.name}" lacks an operand`);
  return [emitter.value(left), emitter.value(right)];
}

const ARITHMETIC = {
  "+": { helper: "values/numbers#add", level: PRECEDENCE.sum },
  "-": { helper: "values/numbers#subtract", level: PRECEDENCE.sum },
  "*": { helper: "values/numbers#multiply", level: PRECEDENCE.product },
} as const;

/** Sums and products: JavaScript's own where the range of the result is known to be safe, or both are doubles. */
export function arithmeticValue(emitter: Emitter, node: CallNode, operator: "+" | "-" | "*"): Code {
  if (node.args.length === 1) return negationValue(emitter, node);
  const [left, right] = operandsOf(emitter, node);
  const { helper, level } = ARITHMETIC[operator];
  const range = rangeOf(operator, left, right);
  const isDouble = left.isRawDouble === true && right.isRawDouble === true;
  const isText = operator === "+" && left.ts === "string" && right.ts === "string";
  const isPlain = range !== undefined || isDouble || isText;
  if (!isPlain || left.mayFail || right.mayFail) {
    const isString = emitter.checked.typeOf(node).kind === "string";
    const call = emitter.call(helper, [emitter.box(left), emitter.box(right)]);
    return isString && operator === "+" ? call : call;
  }
  return {
    text: `${atPrecedence(left, level)} ${operator} ${atPrecedence(right, level + 1)}`,
    level,
    ts: isText ? "string" : "number",
    mayFail: false,
    ...(range === undefined ? {} : { range }),
    ...(isDouble ? { isRawDouble: true } : {}),
  };
}

function negationValue(emitter: Emitter, node: CallNode): Code {
  const [operand] = node.args;
  if (operand === undefined) throw new Error("`-` lacks an operand");
  const code = emitter.boxed(operand);
  return emitter.call("values/numbers#negate", [code]);
}

/** The range of a result of ints, when it is within the safe integers. */
function rangeOf(
  operator: "+" | "-" | "*",
  left: Code,
  right: Code,
): readonly [number, number] | undefined {
  if (left.range === undefined || right.range === undefined) return undefined;
  const [a, b] = left.range;
  const [c, d] = right.range;
  const ends = {
    "+": [a + c, b + d],
    "-": [a - d, b - c],
    "*": [a * c, a * d, b * c, b * d],
  }[operator].map((end) => end + 0);
  // a product with zero could be -0, which is no int
  if (operator === "*" && (a < 0 || c < 0)) return undefined;
  const range = [Math.min(...ends), Math.max(...ends)] as const;
  return range.every(Number.isSafeInteger) ? range : undefined;
}

/** Quotients and remainders: JavaScript's own for doubles only. */
export function divisionValue(emitter: Emitter, node: CallNode): Code {
  const [left, right] = operandsOf(emitter, node);
  const isDouble = left.isRawDouble === true && right.isRawDouble === true;
  if (isDouble && node.name === "/" && !left.mayFail && !right.mayFail) {
    return {
      text: `${atPrecedence(left, PRECEDENCE.product)} / ${atPrecedence(right, PRECEDENCE.unary)}`,
      level: PRECEDENCE.product,
      ts: "number",
      mayFail: false,
      isRawDouble: true,
    };
  }
  const helper = node.name === "/" ? "values/numbers#divide" : "values/numbers#modulo";
  return emitter.call(helper, [emitter.box(left), emitter.box(right)]);
}
