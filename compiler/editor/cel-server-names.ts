import { childrenOf, dottedName, type Node } from "../cel/parse/ast.ts";
import { parseExpression } from "../cel/parse/parse.ts";
import { Problems } from "../cel/parse/problems.ts";

/** Name of an MCP server in an expression: a string that the target of an item is compared with. */
export interface ComparedServer {
  readonly name: string;
  /** Offsets in the expression, without quotes. */
  readonly start: number;
  readonly end: number;
}

/** Returns the names of MCP servers in a valid expression. */
export function serversNamedIn(text: string): readonly ComparedServer[] {
  if (!text.includes(".target")) return [];
  const root = parseExpression(text, new Problems());
  return root === undefined ? [] : namedIn(root);
}

function namedIn(node: Node): readonly ComparedServer[] {
  const own =
    node.kind === "call" && COMPARISONS.has(node.name) && node.args.some(isTarget)
      ? node.args.flatMap((arg) => (arg.kind === "list" ? arg.elements : [arg]).flatMap(literal))
      : [];
  return [...own, ...childrenOf(node).flatMap(namedIn)];
}

const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", "in"]);

function isTarget(node: Node): boolean {
  return /^mcp\.\w+\.target$/.test(dottedName(node) ?? "");
}

function literal(node: Node): readonly ComparedServer[] {
  if (node.kind !== "literal" || node.literal.kind !== "string") return [];
  const [start] = node.offsets ?? [];
  const end = node.offsets?.at(-1);
  if (start === undefined || end === undefined) return [];
  return [{ name: node.literal.value, start, end }];
}
