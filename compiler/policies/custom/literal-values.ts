import type { ts } from "ts-morph";
import type { Json } from "../../model/json.ts";
import type { TypeScript } from "./typescript.ts";

/** Returns the value of a literal expression as JSON; `undefined` if it is not a literal. */
export function literalValue(node: ts.Expression, typescript: TypeScript): Json | undefined {
  const { SyntaxKind } = typescript;
  if (typescript.isStringLiteralLike(node)) return node.text;
  if (typescript.isNumericLiteral(node)) return Number(node.text);
  if (node.kind === SyntaxKind.TrueKeyword) return true;
  if (node.kind === SyntaxKind.FalseKeyword) return false;
  if (typescript.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.MinusToken) {
    const value = literalValue(node.operand, typescript);
    return typeof value === "number" ? -value : undefined;
  }
  if (typescript.isAsExpression(node) || typescript.isParenthesizedExpression(node))
    return literalValue(node.expression, typescript);
  if (typescript.isArrayLiteralExpression(node)) {
    const items = node.elements.map((each) => literalValue(each, typescript));
    return items.every((each) => each !== undefined) ? items : undefined;
  }
  if (!typescript.isObjectLiteralExpression(node)) return undefined;
  const record: Record<string, Json> = Object.create(null);
  for (const property of node.properties) {
    const value = typescript.isPropertyAssignment(property)
      ? literalValue(property.initializer, typescript)
      : undefined;
    const name = property.name && propertyText(property.name, typescript);
    if (value === undefined || name === undefined) return undefined;
    record[name] = value;
  }
  return record;
}

/** Returns the name of a property; `undefined` if it is computed. */
export function propertyText(name: ts.PropertyName, typescript: TypeScript): string | undefined {
  return typescript.isIdentifier(name) || typescript.isStringLiteralLike(name)
    ? name.text
    : undefined;
}
