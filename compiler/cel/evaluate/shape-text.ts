import type { Expression, ValueExpression } from "../../../templates/code/hole.ts";
import { printText } from "../../../templates/code/print.ts";

/**
 * An expression as text to be run, not read: literals are `$0`, `$1` ..., whose values are appended to `literals`. Expressions
 * that differ in nothing else have one text, so that a function is made of it once.
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
      // In brackets a key is no more than that, `__proto__` too.
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

/** What an operator next to it would take apart. */
function isOperation({ kind }: Expression): boolean {
  return kind === "binary" || kind === "conditional" || kind === "arrow";
}
