import { atPrecedence, type Code, LINE, PRECEDENCE, SOFT } from "./code.ts";

/** An expression as the body of an arrow function: an object literal needs parentheses. */
export function arrowBody(code: Code): string {
  return code.text.startsWith("{") ? `(${code.text})` : code.text;
}

/** Booleans joined by `&&` or `||`, breakable at each. What is constant among them is left out, or decides. */
export function joined(operator: "&&" | "||", all: readonly Code[]): Code {
  const decisive = all.find(({ text }) => text === (operator === "&&" ? "false" : "true"));
  if (decisive !== undefined) return decisive;
  const open = all.filter(({ text }) => text !== "true" && text !== "false");
  const codes = open.length === 0 ? all.slice(0, 1) : open;
  const [only] = codes;
  if (codes.length === 1 && only !== undefined) return only;
  const level = operator === "&&" ? PRECEDENCE.and : PRECEDENCE.or;
  const text = codes.map((code) => atPrecedence(code, level)).join(` ${operator}${LINE}`);
  return { text, level, ts: "boolean", mayFail: false };
}

/** The opposite of a boolean that is always there. */
export function negated(code: Code): Code {
  if (code.text === "true" || code.text === "false") {
    return { ...code, text: code.text === "true" ? "false" : "true" };
  }
  const own = { text: code.text, level: code.level };
  const { text, level } = code.opposite ?? {
    text: `!${atPrecedence(code, PRECEDENCE.unary)}`,
    level: PRECEDENCE.unary,
  };
  return { text, level, opposite: own, ts: "boolean", mayFail: false };
}

/** `test ? consequent : alternate`, for a test that is always there. */
export function ternary(test: Code, consequent: Code, alternate: Code, ts: Code["ts"]): Code {
  const [condition, first, second] = [
    atPrecedence(test, PRECEDENCE.fallback),
    atPrecedence(consequent, PRECEDENCE.fallback),
    atPrecedence(alternate, PRECEDENCE.lowest),
  ];
  return {
    text: `${condition}${LINE}? ${first}${LINE}: ${second}`,
    level: PRECEDENCE.lowest,
    ts,
    mayFail: consequent.mayFail || alternate.mayFail,
    ...(consequent.isRawDouble && alternate.isRawDouble ? { isRawDouble: true } : {}),
  };
}

/** `[a, b]`, breakable. */
export function arrayText(texts: readonly string[]): string {
  return texts.length === 0 ? "[]" : `[${SOFT}${texts.join(`,${LINE}`)}${SOFT}]`;
}
