import type { Expression, ValueExpression } from "./hole.ts";
import { asciiLiteral } from "./quote.ts";

/** Maximum length of a string in one piece; a longer one is a sum of pieces. */
const STRING_WIDTH = 72;

/** Splits a long string into a sum of shorter ones. */
export function withoutLongText(node: Expression): Expression {
  if (node.kind !== "value" || typeof node.value !== "string") return node;
  const { value: text } = node;
  if (text.length < STRING_WIDTH && asciiLiteral(text).length <= STRING_WIDTH) return node;
  const operands = partsOf(text).map((each) => ({ ...node, value: each }));
  return operands.length === 1 ? node : { ...node, kind: "binary", operator: "+", operands };
}

/** Splits a text into the longest parts whose literals fit. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let [start, end] = [0, 0];
  let [others, doubles, singles] = [0, 0, 0];
  for (const character of text) {
    const isDouble = character === '"';
    const isSingle = character === "'";
    const width = isDouble || isSingle ? 0 : widthOf(character);
    // A literal has the quotes that occur less often in it, and escapes these.
    const fewer = Math.min(doubles + (isDouble ? 1 : 0), singles + (isSingle ? 1 : 0));
    const ofQuotes = doubles + singles + (isDouble || isSingle ? 1 : 0) + fewer;
    if (others + width + ofQuotes + 2 > STRING_WIDTH) {
      parts.push(text.slice(start, end));
      start = end;
      [others, doubles, singles] = [0, 0, 0];
    }
    others += width;
    if (isDouble) doubles += 1;
    if (isSingle) singles += 1;
    end += character.length;
  }
  parts.push(text.slice(start, end));
  return parts;
}

/** Returns how many characters a character other than a quote takes in a literal. */
function widthOf(character: string): number {
  const isPlain = character >= " " && character <= "~" && character !== "\\";
  return isPlain ? 1 : asciiLiteral(character).length - 2;
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
