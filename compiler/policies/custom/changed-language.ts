import type { ts } from "ts-morph";
import type { TypeScript } from "./typescript.ts";

/** A node that changes an object of the language, and the name of what it changes. */
export interface LanguageChange {
  readonly node: ts.Node;
  readonly name: string;
}

/** Functions that change their first argument. */
const CHANGING: ReadonlySet<string> = new Set([
  ...["Object.assign", "Object.defineProperty", "Object.defineProperties"],
  ...["Object.setPrototypeOf", "Reflect.set", "Reflect.defineProperty"],
  ...["Reflect.deleteProperty", "Reflect.setPrototypeOf"],
]);

/**
 * Finds changes of objects that a module does not declare: all policies and the gateway share them. They fail at run time, too,
 * also those that only a running module shows. `isFree`: whether an identifier is a name that the module does not declare.
 */
export function languageChanges(
  source: ts.SourceFile,
  isFree: (node: ts.Identifier) => boolean,
  typescript: TypeScript,
): readonly LanguageChange[] {
  const found: LanguageChange[] = [];
  const check = (node: ts.Node, target: ts.Expression) => {
    const root = rootOf(target, typescript);
    if (root !== undefined && isFree(root)) found.push({ node, name: target.getText(source) });
  };
  const visit = (node: ts.Node): void => {
    if (typescript.isBinaryExpression(node) && isAssignment(node, typescript))
      check(node, node.left);
    else if (typescript.isDeleteExpression(node)) check(node, node.expression);
    else if (
      (typescript.isPrefixUnaryExpression(node) || typescript.isPostfixUnaryExpression(node)) &&
      [typescript.SyntaxKind.PlusPlusToken, typescript.SyntaxKind.MinusMinusToken].includes(
        node.operator,
      )
    )
      check(node, node.operand);
    else if (typescript.isCallExpression(node)) {
      const [target] = node.arguments;
      if (target !== undefined && CHANGING.has(node.expression.getText(source)))
        check(node, target);
    } else if (isPrototypeName(node, typescript)) found.push({ node, name: "__proto__" });
    typescript.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Returns the identifier at the start of a chain of members: `Array` of `Array.prototype.map`. */
function rootOf(node: ts.Expression, typescript: TypeScript): ts.Identifier | undefined {
  let root = node;
  while (
    typescript.isPropertyAccessExpression(root) ||
    typescript.isElementAccessExpression(root) ||
    typescript.isParenthesizedExpression(root) ||
    typescript.isAsExpression(root) ||
    typescript.isNonNullExpression(root)
  )
    root = root.expression;
  return typescript.isIdentifier(root) ? root : undefined;
}

function isAssignment({ operatorToken }: ts.BinaryExpression, { SyntaxKind }: TypeScript): boolean {
  const { kind } = operatorToken;
  return kind >= SyntaxKind.FirstAssignment && kind <= SyntaxKind.LastAssignment;
}

/** Whether a node is the member `__proto__`, which leads to an object that others share. */
function isPrototypeName(node: ts.Node, typescript: TypeScript): boolean {
  if (typescript.isPropertyAccessExpression(node)) return node.name.text === "__proto__";
  return (
    typescript.isElementAccessExpression(node) &&
    typescript.isStringLiteralLike(node.argumentExpression) &&
    node.argumentExpression.text === "__proto__"
  );
}
