import { Document, isCollection, isMap, isPair, isScalar, type Node } from "yaml";
import type { ConfigPath } from "../diagnostics/diagnostic.ts";

/** A decision for the user, attached to a part of the new file. */
export interface ImportNote {
  /** Path in the new file. */
  readonly path: ConfigPath;
  readonly text: string;
}

/** A part of the old file that was not converted. */
export interface LeftPart {
  /** `line 12`, or `conf.d/a.conf line 12`. */
  readonly place: string;
  /** The source of the part, without credentials. */
  readonly text: string;
}

/** A converted configuration. */
export interface ImportDraft {
  /** Contents of the new file. */
  readonly value: object;
  readonly notes: readonly ImportNote[];
}

/** Result of reading a configuration: the converted file and the parts that were skipped. */
export interface ReadImport {
  readonly draft: ImportDraft;
  readonly left: readonly LeftPart[];
  /** Converted parts without which the result is the same: defaults, and values that the user provides. */
  readonly idle: readonly LeftPart[];
}

/** Renders the new file, with notes as comments above their lines; skipped and idle parts are listed at the top. */
export function importedText(
  source: string,
  { draft: { value, notes }, left, idle }: ReadImport,
): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  for (const { path, text } of notes) comment(document, path, text);
  const head = [
    `Imported from ${source} by \`gwc import\`. Review the lines marked DECIDE.`,
    ...(left.length === 0 ? [] : ["Skipped, because gwc has no counterpart or does not need it:"]),
    ...left.map(({ place, text }) => `  ${place}: ${text}`),
    ...(idle.length === 0 ? [] : ["Converted, but the result would be the same without:"]),
    ...idle.map(({ place, text }) => `    ${place}: ${text}`),
  ];
  return `${head.map(commentLine).join("")}${document.toString({ lineWidth: 0 }).trimEnd()}\n`;
}

function commentLine(text: string): string {
  return `# ${visible(text)}\n`;
}

/** Replaces characters that would end a comment line. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}

/** Adds a comment above the line of a path. */
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
