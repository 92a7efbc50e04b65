import type { Expression, ValueExpression } from "./hole.ts";
import { asciiLiteral } from "./quote.ts";

/** Maximum length of a string in one piece; a longer one is a sum of pieces. */
const STRING_WIDTH = 72;

/** Splits a long string into a sum of shorter ones. */
export function withoutLongText(node: Expression): Expression {
  if (node.kind !== "value") return node;
  const { value: text } = node;
  if (typeof text !== "string" || asciiLiteral(text).length <= STRING_WIDTH) return node;
  const parts: string[] = [];
  let part = "";
  for (const character of text) {
    if (asciiLiteral(part + character).length > STRING_WIDTH) {
      parts.push(part);
      part = "";
    }
    part += character;
  }
  parts.push(part);
  const operands = parts.map((each) => ({ ...node, value: each }));
  return { ...node, kind: "binary", operator: "+", operands };
}

/** Prints a literal. */
export function textOf({ value: content }: ValueExpression): string {
  switch (typeof content) {
    case "string":
      return asciiLiteral(content);
    case "bigint":
      return `${content}n`;
    case "number":
      return numberText(content);
    default:
      return String(content);
  }
}

/** Prints a number as an expression. */
export function numberText(number: number): string {
  if (Object.is(number, -0)) return "-0";
  if (Number.isFinite(number)) return String(number).replace("e+", "e");
  if (Number.isNaN(number)) return "Number.NaN";
  return number > 0 ? "Number.POSITIVE_INFINITY" : "Number.NEGATIVE_INFINITY";
}
