import { childrenOf, dottedName, type Node } from "../parse/ast.ts";
import { parseExpression } from "../parse/parse.ts";
import { Problems } from "../parse/problems.ts";

const ARGUMENTS = "mcp.tool.arguments";

/** Whether an expression reads the arguments of a tool call. */
export function readsArguments(text: string): boolean {
  // Most rules do not, and need not be parsed for that.
  if (!text.includes("arguments")) return false;
  const root = parseExpression(text, new Problems());
  return root !== undefined && isAboutArguments(root);
}

/**
 * Returns a rule that also decides about entries of a list, which have no arguments: a tool is listed if the rule would let
 * some arguments pass. Each condition on arguments counts as met by a list in `allow` and `require` rules, and as unmet in
 * `deny` rules. Returns the rule unchanged if it reads no arguments.
 */
export function withListing(text: string, action: "allow" | "deny" | "require"): string {
  if (!readsArguments(text)) return text;
  const root = parseExpression(text, new Problems());
  if (root === undefined) return text;
  const listed = new ListedText(text).of(root, action !== "deny");
  return `mcp.method == "tools/list" ? has(mcp.tool) && (${listed}) : (${text})`;
}

/** Writes expressions in which conditions on arguments have a fixed result. */
class ListedText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** `best`: the result that every condition on arguments is to have, before negation. */
  of(node: Node, best: boolean): string {
    if (!isAboutArguments(node)) return `(${this.#text.slice(...node.span)})`;
    if (node.kind === "logical") {
      const operands = node.operands.map((operand) => this.of(operand, best));
      return `(${operands.join(` ${node.operator} `)})`;
    }
    if (node.kind === "conditional") {
      const [then, otherwise] = [this.of(node.consequent, best), this.of(node.alternate, best)];
      // The test may be met in one branch and unmet in the other, as arguments differ.
      const [met, unmet] = [this.of(node.test, best), `!${this.of(node.test, !best)}`];
      return isAboutArguments(node.test)
        ? `((${met} && ${then}) || (${unmet} && ${otherwise}))`
        : `(${met} ? ${then} : ${otherwise})`;
    }
    const [operand] = node.kind === "call" && node.name === "!" ? node.args : [];
    return operand === undefined ? String(best) : `!${this.of(operand, !best)}`;
  }
}

function isAboutArguments(node: Node): boolean {
  if ((node.kind === "select" || node.kind === "presence") && node.field === "arguments") {
    const owner = dottedName(node.operand);
    if (owner === undefined ? namesTool(node.operand) : `${owner}.arguments` === ARGUMENTS)
      return true;
  }
  return childrenOf(node).some(isAboutArguments);
}

/** Whether an operand is the tool in another form: `mcp.?tool`. */
function namesTool(node: Node): boolean {
  return node.kind === "select" && node.field === "tool";
}
