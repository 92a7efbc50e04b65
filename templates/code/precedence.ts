import type { Expression, Operator } from "./hole.ts";

/** `&&`, `||` and `??`. */
export function isLogical(operator: Operator): boolean {
  return operator === "??" || operator === "&&" || operator === "||";
}

const PRECEDENCE: Readonly<Record<Operator, number>> = {
  "??": 1,
  "||": 2,
  "&&": 3,
  "===": 4,
  "!==": 4,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  "+": 6,
  "-": 6,
  "*": 7,
  "/": 7,
};

/** Returns whether an operand is printed in parentheses: if it must be, and if `&&` and `||` are mixed. */
export function needsParentheses(operand: Expression, parent: Operator, isFirst: boolean): boolean {
  if (operand.kind === "conditional" || operand.kind === "arrow") return true;
  if (operand.kind !== "binary") return false;
  const [own, outer] = [PRECEDENCE[operand.operator], PRECEDENCE[parent]];
  if (outer <= PRECEDENCE["&&"] && own <= PRECEDENCE["&&"]) {
    return operand.operator !== parent || !isFirst;
  }
  return own < outer || (own === outer && !(isFirst && isFlattened(parent, operand.operator)));
}

/** Returns whether a first operand is part of the chain: `a + b - c`. */
export function isFlattened(parent: Operator, own: Operator): boolean {
  if (PRECEDENCE[own] !== PRECEDENCE[parent]) return false;
  const isEquality = PRECEDENCE[own] === PRECEDENCE["==="];
  return !isEquality && (own === parent || PRECEDENCE[own] !== PRECEDENCE["*"]);
}
