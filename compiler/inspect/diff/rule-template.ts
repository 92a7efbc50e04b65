import { childrenOf, type LiteralNode, mapChildren, type Node } from "../../cel/parse/ast.ts";
import { canonicalText } from "../../cel/parse/canonical-text.ts";
import { parseExpression } from "../../cel/parse/parse.ts";
import { Problems } from "../../cel/parse/problems.ts";
import { pathOf } from "../effect/data/data-path.ts";

/** A rule with placeholders for the names that it compares with: users, roles, tools and paths. */
export interface RuleTemplate {
  /** Equal for rules that differ only in names. */
  readonly text: string;
  readonly names: readonly string[];
  /** All other words of the rule: fields and other strings. */
  readonly words: readonly string[];
}

/** Cached templates, since many routes on both sides share rules. */
const known = new Map<string, RuleTemplate | undefined>();

/** Returns the template of a rule; `undefined` if it tests more than equality and prefixes of names. */
export function ruleTemplate(text: string): RuleTemplate | undefined {
  if (known.has(text)) return known.get(text);
  const made = templateOf(text);
  known.set(text, made);
  return made;
}

function templateOf(text: string): RuleTemplate | undefined {
  const root = parseExpression(text, new Problems());
  const found = root && partsOf(root, []);
  if (root === undefined || found === undefined) return undefined;
  const names = found.flatMap((part) => (part.kind === "name" ? part.literal : []));
  const words = found.flatMap((part) => (part.kind === "word" ? part.text : []));
  const places = new Map<Node, Node>(
    names.map(({ span }, at) => [names[at] ?? root, placeAt(at, span)]),
  );
  return {
    text: canonicalText(replaced(root, places)),
    names: names.flatMap(({ literal }) => (literal.kind === "string" ? literal.value : [])),
    words,
  };
}

/** Creates a placeholder, which no rule has as a variable. */
function placeAt(index: number, span: LiteralNode["span"]): Node {
  return { kind: "name", span, name: `$${index}` };
}

function replaced(node: Node, places: ReadonlyMap<Node, Node>): Node {
  return places.get(node) ?? mapChildren(node, (child) => replaced(child, places));
}

type Part =
  | { readonly kind: "name"; readonly literal: LiteralNode }
  | { readonly kind: "word"; readonly text: string };

/** Collects the names and words of an expression; `elements` are variables of macros over claims. */
function partsOf(node: Node, elements: readonly string[]): readonly Part[] | undefined {
  const below = (nodes: readonly Node[], inner = elements) => {
    const found = nodes.map((each) => partsOf(each, inner));
    return found.includes(undefined) ? undefined : found.flatMap((each) => each ?? []);
  };
  switch (node.kind) {
    case "literal":
      return node.literal.kind === "string" ? [wordOf(node.literal.value)] : [];
    case "name":
      return [wordOf(node.name)];
    case "select":
    case "presence":
      return withWord(node.field, below([node.operand]));
    case "index":
    case "logical":
    case "conditional":
    case "list":
      return below(childrenOf(node));
    case "macro": {
      const { macro, range, variables, bodies } = node;
      if (macro !== "exists" && macro !== "all") return undefined;
      const own = isNamed(range, elements) ? variables.map(({ name }) => name) : [];
      const inside = below(bodies, [...elements, ...own]);
      const outside = below([range]);
      return inside && outside && [...outside, ...inside];
    }
    case "call":
      return CALLS.includes(node.name)
        ? comparedParts(node.name, node.args, below, elements)
        : undefined;
    default:
      return undefined;
  }
}

const CALLS = ["==", "!=", "in", "startsWith", "!"];

function comparedParts(
  name: string,
  args: readonly Node[],
  below: (nodes: readonly Node[]) => readonly Part[] | undefined,
  elements: readonly string[],
): readonly Part[] | undefined {
  const [left, right] = args;
  if (left === undefined || right === undefined) return below(args);
  if (name === "startsWith" && isString(left)) return undefined;
  const [subject, constant] = isString(left) ? [right, left] : [left, right];
  if (!isNamed(subject, elements)) return below(args);
  const compared = name === "in" && constant.kind === "list" ? constant.elements : [constant];
  if (!compared.every(isString)) return below(args);
  const names = compared.map((literal): Part => ({ kind: "name", literal }));
  const rest = below([subject]);
  return rest && [...rest, ...names];
}

function isString(node: Node): node is LiteralNode {
  return node.kind === "literal" && node.literal.kind === "string";
}

/** Whether an expression is a claim, the name of an MCP item, or the path, which may be any string. */
function isNamed(node: Node, elements: readonly string[]): boolean {
  const path = pathOf(node);
  const [root = "", field] = path ?? [];
  if (path === undefined) return false;
  if (path.length === 1) return elements.includes(root);
  if (root === "request") return path.length === 2 && field === "path";
  return root === "jwt" || root === "apiKey" || (root === "mcp" && path.length === 3);
}

function withWord(word: string, parts: readonly Part[] | undefined) {
  return parts && [...parts, wordOf(word)];
}

function wordOf(text: string): Part {
  return { kind: "word", text };
}
