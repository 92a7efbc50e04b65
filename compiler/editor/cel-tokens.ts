import { type SemanticTokens, SemanticTokensBuilder } from "vscode-languageserver";
import { childrenOf, type Node, type Span } from "../cel/parse/ast.ts";
import { parseExpression } from "../cel/parse/parse.ts";
import { Problems } from "../cel/parse/problems.ts";
import { expressionsIn, type WrittenExpression } from "./cel-position.ts";
import type { DocumentContext } from "./document-context.ts";

/** Types of tokens in expressions, by their index in the protocol. */
export const TOKEN_TYPES = ["variable", "property", "function", "string", "number", "keyword"];

type TokenType = "variable" | "property" | "function" | "string" | "number" | "keyword";

interface Token {
  readonly span: Span;
  readonly type: TokenType;
}

/** Returns the tokens of the valid expressions of a document, in their order. */
export function celTokens(context: DocumentContext): SemanticTokens {
  const found = expressionsIn(context).flatMap((each) => tokensOf(each, context));
  const builder = new SemanticTokensBuilder();
  for (const { line, character, length, type } of found.toSorted(byPlace))
    builder.push(line, character, length, TOKEN_TYPES.indexOf(type), 0);
  return builder.build();
}

interface PlacedToken {
  readonly line: number;
  readonly character: number;
  readonly length: number;
  readonly type: TokenType;
}

function byPlace(a: PlacedToken, b: PlacedToken): number {
  return a.line - b.line || a.character - b.character;
}

function tokensOf(
  { text, rangeOf }: WrittenExpression,
  { document }: DocumentContext,
): readonly PlacedToken[] {
  const root = parseExpression(text, new Problems());
  if (root === undefined) return [];
  return tokensIn(root).flatMap(({ span: [from, to], type }): readonly PlacedToken[] => {
    const [start, end] = rangeOf(from, to);
    const [first, last] = [document.positionAt(start), document.positionAt(end)];
    // Editors take tokens of one line only.
    if (first.line !== last.line || end <= start) return [];
    return [{ ...first, length: end - start, type }];
  });
}

function tokensIn(node: Node): readonly Token[] {
  return [...ownTokens(node), ...childrenOf(node).flatMap(tokensIn)];
}

function ownTokens(node: Node): readonly Token[] {
  switch (node.kind) {
    case "literal": {
      const { kind } = node.literal;
      if (kind === "string" || kind === "bytes") return [{ span: node.span, type: "string" }];
      const isWord = kind === "bool" || kind === "null";
      return [{ span: node.span, type: isWord ? "keyword" : "number" }];
    }
    case "name":
      return [{ span: bareSpan(node.span, node.name.length), type: "variable" }];
    case "select":
    case "presence":
      return [{ span: node.fieldSpan, type: "property" }];
    case "call":
      return /^[A-Za-z]/.test(node.name) && node.name !== "in"
        ? [{ span: node.nameSpan, type: "function" }]
        : [];
    case "macro":
      return node.variables.map(({ span }) => ({ span, type: "variable" }));
    default:
      return [];
  }
}

/** Returns the place of a name without the parentheses around it. */
function bareSpan([start, end]: Span, length: number): Span {
  const extra = Math.max(0, Math.floor((end - start - length) / 2));
  return [start + extra, start + extra + length];
}
