import type { Expression, ValueExpression } from "../../../templates/code/hole.ts";
import { printText } from "../../../templates/code/print.ts";

/**
 * Returns an expression as code to run: literals become `$0`, `$1` ..., and their values are appended to `literals`.
 * Expressions that only differ in literals have the same code, so that it is compiled once.
 */
export function shapeText(node: Expression, literals: ValueExpression["value"][]): string {
  const text = (each: Expression) => shapeText(each, literals);
  const operand = (each: Expression) => (isOperation(each) ? `(${text(each)})` : text(each));
  switch (node.kind) {
    case "value":
      return `$${literals.push(node.value) - 1}`;
    case "member": {
      const object = operand(node.object);
      const dot = node.isOptional ? "?." : "";
      return `${object}${dot}[${JSON.stringify(node.property)}]`;
    }
    case "call":
      return `${node.isNew ? "new " : ""}${operand(node.callee)}(${node.args.map(text).join(",")})`;
    case "binary":
      return node.operands.map(operand).join(node.operator);
    case "not":
      return `!${operand(node.operand)}`;
    case "conditional":
      return `${operand(node.test)}?${operand(node.consequent)}:${operand(node.alternate)}`;
    case "arrow":
      return `(${node.parameters.map(text).join(",")})=>(${text(node.body)})`;
    case "list":
      return `[${node.items.map(text).join(",")}]`;
    case "object": {
      // In brackets any key is a plain key, including `__proto__`.
      const entries = node.entries.map(([key, each]) => `[${JSON.stringify(key)}]:${text(each)}`);
      return `{${entries.join(",")}}`;
    }
    case "name":
      return node.text;
    case "import":
      return node.name;
    case "local":
    case "constant":
      throw new Error(`"${node.proposal}" was not named`);
    case "code":
    case "literal":
    case "extension":
      return printText(node);
  }
}

/** Whether an expression needs parentheses next to an operator. */
function isOperation({ kind }: Expression): boolean {
  return kind === "binary" || kind === "conditional" || kind === "arrow";
}
