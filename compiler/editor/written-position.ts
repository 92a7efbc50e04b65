import { isMap, isScalar, type Node, type Scalar } from "yaml";
import { readDocuments } from "../1-parse/documents.ts";
import { type ConfigPath, Diagnostics } from "../diagnostics/diagnostic.ts";
import type { SourceFile } from "../diagnostics/source.ts";
import { visitScalars } from "./node-at.ts";

/** The word at the cursor and its role, in a file that need not be valid. */
export interface WrittenPosition {
  /** The file with a word in place of the one at the cursor, so that its YAML is complete there. */
  readonly source: SourceFile;
  readonly document: number;
  /** A key of the mapping at `path`, or the value at `path`, which may become a mapping. */
  readonly role: "key" | "value";
  readonly path: ConfigPath;
  /** Offsets of the word that is being written. */
  readonly start: number;
  readonly end: number;
  /** The part of it before the cursor. */
  readonly before: string;
  /** Whether a colon follows it: the name of a key is being changed. */
  readonly hasValue: boolean;
  /** Names of the other keys of the mapping, for a key. */
  readonly siblings: readonly string[];
}

/** A word that no configuration has. */
const WORD = "gwcCursorWord";

/** A character next to a word. */
const WORD_END = /[\s:,[\]{}"']/;

/** Returns what is written at an offset; `undefined` inside a quoted string, a block, or a comment. */
export function writtenPosition(
  file: string,
  text: string,
  offset: number,
): WrittenPosition | undefined {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const lineBefore = text.slice(lineStart, offset);
  if (/(^|\s)#/.test(lineBefore)) return undefined;
  // A pattern at the end of a line would be tried from each of its characters.
  let start = offset;
  while (start > lineStart && !WORD_END.test(text.charAt(start - 1))) start--;
  const before = text.slice(start, offset);
  const rest = /^[^\s:,[\]{}"']*/.exec(text.slice(offset))?.[0] ?? "";
  const end = offset + rest.length;
  const hasValue = text[end] === ":";
  // Without the colon, the lines below may be read as more of the word.
  for (const filled of hasValue ? [WORD] : [WORD, `${WORD}:`]) {
    const patched = text.slice(0, start) + filled + text.slice(end);
    const source = readDocuments(file, file, patched, new Diagnostics());
    const found = findWord(source);
    if (found !== undefined) return { ...found, source, start, end, before, hasValue };
  }
  return undefined;
}

function findWord(
  source: SourceFile,
): Pick<WrittenPosition, "document" | "role" | "path" | "siblings"> | undefined {
  for (const [document, { yaml }] of source.documents.entries()) {
    let found: { readonly path: ConfigPath; readonly part: "key" | "value" } | undefined;
    visitScalars(yaml.contents, [], (scalar: Scalar, path, part) => {
      if (scalar.value === WORD) found = { path, part };
    });
    if (found === undefined) continue;
    const { path, part } = found;
    if (part === "value") return { document, role: "value", path, siblings: [] };
    const owner = path.slice(0, -1);
    const mapping: unknown = owner.length === 0 ? yaml.contents : yaml.getIn(owner, true);
    return { document, role: "key", path: owner, siblings: keysOf(mapping) };
  }
  return undefined;
}

/** Returns the names of the keys of a mapping; empty for other nodes. */
export function keysOf(node: Node | unknown): readonly string[] {
  if (!isMap(node)) return [];
  const keys = node.items.flatMap(({ key }) => (isScalar(key) ? String(key.value) : []));
  return keys.filter((key) => key !== WORD);
}
