import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
} from "yaml";
import type { ConfigPath, Place } from "./diagnostic.ts";
import { sourceOffset } from "./locate.ts";

/** One input file: its text and its YAML documents. */
export interface SourceFile {
  /** Name in generated code: relative to the common folder of the inputs, with `/`. */
  readonly name: string;
  /** Path as the user gave it, for diagnostics. */
  readonly path: string;
  readonly text: string;
  readonly documents: readonly SourceDocument[];
  /** The documents as data, variables unexpanded. Empty if the YAML of the file has mistakes. */
  readonly data: readonly unknown[];
}

/** A YAML document, and the targets of its aliases. */
export interface SourceDocument {
  readonly yaml: Document;
  readonly aliases: ReadonlyMap<Alias, Node>;
}

/** A range in a file that a diagnostic points at. */
export interface Location {
  readonly path: string;
  readonly text: string;
  /** Offsets in the text. */
  readonly start: number;
  readonly end: number;
  /** Starts at 1. */
  readonly line: number;
  readonly column: number;
}

/** Locates a place: the smallest existing node on its path. */
export function locate(place: Place, files: readonly SourceFile[]): Location {
  const file = files.find((each) => each.name === place.file);
  if (file === undefined) {
    return { path: place.file, text: "", start: 0, end: 0, line: 1, column: 1 };
  }
  const [start, end] = rangeOf(place, file);
  return { path: file.path, text: file.text, start, end, ...placeOf(start, file) };
}

/** Formats a location for editors and terminals: `gateway.yaml:27:15`. */
export function locationText({ path, line, column }: Location): string {
  return `${path}:${line}:${column}`;
}

/** Returns the value at a place as data. */
export function valueAt(place: Place, files: readonly SourceFile[]): unknown {
  const file = files.find((each) => each.name === place.file);
  const document = file?.documents[place.document];
  if (document === undefined || document.yaml.contents === null) return undefined;
  const { node, isWhole } = findNode(document, place.path);
  return isWhole ? node.toJS(document.yaml) : undefined;
}

/** Converts an offset to line and column, both starting at 1. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** Caches of line starts and mapping pairs of files, because a file may have many mistakes. */
const lineStarts = new WeakMap<SourceFile, readonly number[]>();
const pairsByKey = new WeakMap<Node, ReadonlyMap<string, Pair>>();

function placeOf(offset: number, file: SourceFile): { line: number; column: number } {
  const starts = lineStarts.get(file) ?? startsOfLines(file.text);
  lineStarts.set(file, starts);
  let [from, to] = [0, starts.length];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if ((starts[middle] ?? 0) <= offset) from = middle;
    else to = middle;
  }
  return { line: from + 1, column: offset - (starts[from] ?? 0) + 1 };
}

function startsOfLines(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function rangeOf(place: Place, file: SourceFile): readonly [number, number] {
  if (place.offsets !== undefined) return place.offsets;
  const document = file.documents[place.document];
  if (place.part === "file" || document === undefined || document.yaml.contents === null)
    return [0, 0];
  const found = findNode(document, place.path);
  const target = place.part === "key" && found.key !== undefined ? found.key : found.node;
  const range = target.range ?? [0, 0, 0];
  if (place.within !== undefined && isScalar(target) && found.isWhole)
    return scalarRange(file.text, target, place.within);
  return [range[0], Math.max(range[0], trimmedEnd(file.text, range[0], range[1]))];
}

/** Returns the range in a file of a range in the value of a scalar; that of the whole node if it has no source. */
export function scalarRange(
  text: string,
  scalar: Scalar,
  within: readonly [start: number, end: number],
): readonly [start: number, end: number] {
  const token = scalarToken(text, scalar);
  if (token !== undefined) return [sourceOffset(token, within[0]), sourceOffset(token, within[1])];
  const [start, end] = scalar.range ?? [0, 0, 0];
  return [start, Math.max(start, trimmedEnd(text, start, end))];
}

interface FoundNode {
  readonly node: Node;
  readonly key: Node | undefined;
  /** Whether the whole path exists. */
  readonly isWhole: boolean;
}

function findNode(document: SourceDocument, path: ConfigPath): FoundNode {
  let found: FoundNode = { node: document.yaml.contents as Node, key: undefined, isWhole: true };
  for (const step of path) {
    const node = isAlias(found.node)
      ? (document.aliases.get(found.node) ?? found.node)
      : found.node;
    const next = child(node, step);
    if (next === undefined) return { ...found, isWhole: false };
    found = next;
  }
  return found;
}

function child(node: Node, step: string | number): FoundNode | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    if (isPair(item) || item === undefined || item === null) return undefined;
    return { node: item as Node, key: undefined, isWhole: true };
  }
  if (!isMap(node)) return undefined;
  const pairs = pairsByKey.get(node) ?? pairsOf(node.items);
  pairsByKey.set(node, pairs);
  const pair = pairs.get(String(step));
  if (pair === undefined) return undefined;
  const key = pair.key as Node;
  return { node: (pair.value ?? key) as Node, key, isWhole: true };
}

/** Indexes pairs by key; the first one of duplicates. */
function pairsOf(items: readonly Pair[]): ReadonlyMap<string, Pair> {
  const pairs = new Map<string, Pair>();
  for (const item of items) {
    const key = isScalar(item.key) ? String(item.key.value) : undefined;
    if (key !== undefined && !pairs.has(key)) pairs.set(key, item);
  }
  return pairs;
}

/** Scalar styles of the YAML parser by their names in locate.ts. */
export const SCALAR_STYLES = {
  PLAIN: "plain",
  QUOTE_SINGLE: "single",
  QUOTE_DOUBLE: "double",
  BLOCK_LITERAL: "literal",
  BLOCK_FOLDED: "folded",
} as const;

function scalarToken(text: string, node: Node): Parameters<typeof sourceOffset>[0] | undefined {
  if (!isScalar(node) || node.type === undefined || node.range == null) return undefined;
  const style = Object.entries(SCALAR_STYLES).find(([type]) => type === node.type)?.[1];
  if (style === undefined) return undefined;
  const [start, end] = node.range;
  return { text: text.slice(start, end), start, style, value: String(node.value) };
}

/** Returns the end of a node without trailing spaces and line breaks, which YAML includes. */
function trimmedEnd(text: string, start: number, end: number): number {
  return start + text.slice(start, end).trimEnd().length;
}
