import {
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  SymbolKind,
} from "vscode-languageserver";
import { isMap, isScalar, isSeq, type Node } from "yaml";
import { type DocumentContext, rangeIn } from "./document-context.ts";

/** Maximum depth of symbols: deeper fields are settings, not parts. */
const MAX_DEPTH = 6;

/** Returns the parts of a document: sections, and items of lists by their names. */
export function symbolsOf(context: DocumentContext): readonly DocumentSymbol[] {
  return context.source.documents.flatMap(({ yaml: { contents } }): readonly DocumentSymbol[] => {
    if (!isMap(contents)) return [];
    const kind: unknown = contents.get("kind");
    const parts = partsOf(contents, 0, context);
    if (typeof kind !== "string") return parts;
    const name: unknown = contents.getIn(["metadata", "name"]);
    return symbol(
      contents,
      contents,
      `${kind} ${name ?? ""}`.trim(),
      SymbolKind.Class,
      parts,
      context,
    );
  });
}

/** Returns the documents, mappings and lists of several lines. */
export function foldsOf({ source, document }: DocumentContext): readonly FoldingRange[] {
  const folds: FoldingRange[] = [];
  const fold = (start: number, end: number): void => {
    const startLine = document.positionAt(start).line;
    const written = source.text.slice(start, end).trimEnd();
    const endLine = document.positionAt(start + written.length).line;
    if (endLine > startLine) folds.push({ startLine, endLine, kind: FoldingRangeKind.Region });
  };
  const visit = (node: unknown): void => {
    if (isSeq(node)) {
      for (const item of node.items) {
        if (isMap(item)) foldNode(item, fold);
        visit(item);
      }
    }
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      if (isScalar(key) && isScalarOrCollection(value) && value.range && key.range)
        fold(key.range[0], value.range[1]);
      visit(value);
    }
  };
  for (const { yaml } of source.documents) visit(yaml.contents);
  return folds;
}

function foldNode({ range }: Node, fold: (start: number, end: number) => void): void {
  if (range !== null && range !== undefined) fold(range[0], range[1]);
}

function isScalarOrCollection(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value);
}

function partsOf(node: unknown, depth: number, context: DocumentContext): DocumentSymbol[] {
  if (depth > MAX_DEPTH) return [];
  if (isSeq(node))
    return node.items.flatMap((item, index) => {
      if (!isMap(item)) return [];
      const name: unknown = item.get("name") ?? item.getIn(["name", "name"]);
      const label = typeof name === "string" ? name : `${index + 1}`;
      const parts = partsOf(item, depth + 1, context);
      return symbol(item, item, label, SymbolKind.Object, parts, context);
    });
  if (!isMap(node)) return [];
  return node.items.flatMap(({ key, value }) => {
    if (!isScalar(key) || !(isMap(value) || isSeq(value))) return [];
    const kind = isSeq(value) ? SymbolKind.Array : SymbolKind.Namespace;
    return symbol(key, value, String(key.value), kind, partsOf(value, depth + 1, context), context);
  });
}

function symbol(
  key: Node,
  value: Node,
  name: string,
  kind: SymbolKind,
  children: readonly DocumentSymbol[],
  { document, source }: DocumentContext,
): DocumentSymbol[] {
  if (!key.range || !value.range) return [];
  const [start] = key.range;
  const end = start + source.text.slice(start, value.range[1]).trimEnd().length;
  const range = rangeIn(document, start, Math.max(start, end));
  // Editors require that the selected range is in the whole one.
  const selected = rangeIn(document, start, Math.min(key.range[1], Math.max(start, end)));
  const selectionRange = key === value ? { start: range.start, end: range.start } : selected;
  return [{ name: name === "" ? "-" : name, kind, range, selectionRange, children: [...children] }];
}
