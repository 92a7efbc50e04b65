import { childrenOf, dottedName, type Node } from "../cel/parse/ast.ts";
import { parseExpression } from "../cel/parse/parse.ts";
import { Problems } from "../cel/parse/problems.ts";

/** Name in an expression: a string that the server or the name of an MCP item is compared with. */
export interface McpName {
  readonly name: string;
  /** Offsets in the expression, without quotes. */
  readonly start: number;
  readonly end: number;
}

/** Returns the names of MCP servers in a valid expression. */
export function serversNamedIn(text: string): readonly McpName[] {
  return comparedIn(text, ".target", /^mcp\.\w+\.target$/);
}

/** Returns the names of tools in a valid expression. */
export function toolsNamedIn(text: string): readonly McpName[] {
  return comparedIn(text, ".name", /^mcp\.tool\.name$/);
}

/** `part` is contained in all variables that match. */
function comparedIn(text: string, part: string, variable: RegExp): readonly McpName[] {
  if (!text.includes(part)) return [];
  const root = parseExpression(text, new Problems());
  return root === undefined ? [] : namedIn(root, variable);
}

function namedIn(node: Node, variable: RegExp): readonly McpName[] {
  const isCompared = (each: Node) => variable.test(dottedName(each) ?? "");
  const own =
    node.kind === "call" && COMPARISONS.has(node.name) && node.args.some(isCompared)
      ? node.args.flatMap((arg) => (arg.kind === "list" ? arg.elements : [arg]).flatMap(literal))
      : [];
  return [...own, ...childrenOf(node).flatMap((each) => namedIn(each, variable))];
}

const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", "in"]);

function literal(node: Node): readonly McpName[] {
  if (node.kind !== "literal" || node.literal.kind !== "string") return [];
  const [start] = node.offsets ?? [];
  const end = node.offsets?.at(-1);
  if (start === undefined || end === undefined) return [];
  return [{ name: node.literal.value, start, end }];
}
