import { isMap, isPair, isScalar, isSeq, type Node, type Scalar } from "yaml";
import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import type { SourceFile } from "../diagnostics/source.ts";

/** The smallest node of a file at an offset. */
export interface NodeAt {
  /** Index of its document. */
  readonly document: number;
  /** Path of the value, also for a key. */
  readonly path: ConfigPath;
  readonly part: "key" | "value";
  readonly node: Node;
}

/** Finds the key or value at an offset; `undefined` between nodes. */
export function nodeAt({ documents }: SourceFile, offset: number): NodeAt | undefined {
  const index = documentAt(documents, offset);
  const contents = documents[index]?.yaml.contents;
  if (contents === null || contents === undefined) return undefined;
  return inside(contents, offset, { document: index, path: [] });
}

/** Returns the index of the document at an offset. */
function documentAt(documents: SourceFile["documents"], offset: number): number {
  const index = documents.findLastIndex(({ yaml }) => (yaml.range?.[0] ?? 0) <= offset);
  return Math.max(0, index);
}

/** Calls `visit` with every scalar of a node, and with every key. */
export function visitScalars(
  node: Node | null | undefined,
  path: ConfigPath,
  visit: (scalar: Scalar, path: ConfigPath, part: NodeAt["part"]) => void,
): void {
  if (isScalar(node)) visit(node, path, "value");
  if (isSeq(node))
    node.items.forEach((item, index) => {
      visitScalars(nodeOf(item), [...path, index], visit);
    });
  if (!isMap(node)) return;
  for (const { key, value } of node.items) {
    if (!isScalar(key)) continue;
    const below = [...path, String(key.value)];
    visit(key, below, "key");
    visitScalars(nodeOf(value), below, visit);
  }
}

function inside(
  node: Node,
  offset: number,
  at: Pick<NodeAt, "document" | "path">,
): NodeAt | undefined {
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const below = { ...at, path: [...at.path, String(key.value)] };
      if (covers(key, offset)) return { ...below, part: "key", node: key };
      const inner = nodeOf(value);
      if (inner !== undefined && covers(inner, offset)) return inside(inner, offset, below);
    }
    return undefined;
  }
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      const inner = nodeOf(item);
      if (inner !== undefined && covers(inner, offset))
        return inside(inner, offset, { ...at, path: [...at.path, index] });
    }
    return undefined;
  }
  return covers(node, offset) ? { ...at, part: "value", node } : undefined;
}

function covers({ range }: Node, offset: number): boolean {
  if (range === null || range === undefined) return false;
  return range[0] <= offset && offset <= range[1];
}

/** Returns an item of a collection as a node: the parser also has empty ones and pairs there. */
function nodeOf(item: unknown): Node | undefined {
  const isNode = typeof item === "object" && item !== null && !isPair(item);
  // The parser only has nodes and pairs in collections.
  return isNode ? (item as Node) : undefined;
}
