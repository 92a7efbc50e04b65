import { Document, isCollection, isMap, isPair, isScalar, type Node } from "yaml";
import type { ConfigPath } from "../diagnostics/diagnostic.ts";

/** Something that whoever imports has to decide about, beside a part of the new file. */
export interface ImportNote {
  /** In the new file. */
  readonly path: ConfigPath;
  readonly text: string;
}

/** A part of the old file that is not in the new one. */
export interface LeftPart {
  /** `line 12`, or `conf.d/a.conf line 12`. */
  readonly place: string;
  /** What stands there; no credential. */
  readonly text: string;
}

/** A configuration that was made of another gateway's. */
export interface ImportDraft {
  /** The new file as a value. */
  readonly value: object;
  readonly notes: readonly ImportNote[];
}

/** The new file, with each note above its line and what was left out at its head. */
export function importedText(
  source: string,
  { value, notes }: ImportDraft,
  left: readonly LeftPart[],
): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  for (const { path, text } of notes) comment(document, path, text);
  const head = [
    `Imported from ${source} by \`gwc import\`. Lines marked DECIDE want to be read.`,
    ...(left.length === 0 ? [] : ["Left out, as it has no counterpart here or is not needed:"]),
    ...left.map(({ place, text }) => `  ${place}: ${text}`),
  ];
  return `${head.map(commentLine).join("")}${document.toString({ lineWidth: 0 }).trimEnd()}\n`;
}

function commentLine(text: string): string {
  return `# ${visible(text)}\n`;
}

/** On one line, without what would end a comment. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}

/** Puts a comment above the line of a path. */
function comment(document: Document, path: ConfigPath, text: string): void {
  const last = path.at(-1);
  const parent = document.getIn(path.slice(0, -1), true);
  const at = path.length === 1 ? document.contents : parent;
  if (last === undefined || !isCollection(at)) return;
  const found = at.items.find((item, index) =>
    isMap(at) ? isPair(item) && isScalar(item.key) && item.key.value === last : index === last,
  );
  const node = isPair(found) ? found.key : found;
  if (isNode(node)) {
    const line = ` DECIDE: ${visible(text)}`;
    node.commentBefore = node.commentBefore ? `${node.commentBefore}\n${line}` : line;
  }
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isCollection(value);
}
