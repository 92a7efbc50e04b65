import path from "node:path";
import type { Range } from "vscode-languageserver";
import type { TextDocument } from "vscode-languageserver-textdocument";
import type { SourceFile } from "../diagnostics/source.ts";
import type { DocumentSchema, FieldReference } from "./field-reference.ts";
import type { NameUse } from "./names.ts";
import { type NodeAt, nodeAt } from "./node-at.ts";
import type { Project } from "./project.ts";

/** An open document and its configuration: the input of a feature. */
export interface DocumentContext {
  readonly path: string;
  readonly document: TextDocument;
  /** Its YAML, valid or not. */
  readonly source: SourceFile;
  /** The configuration that it belongs to or tests; `undefined` for tests without one. */
  readonly project: Project | undefined;
  readonly reference: FieldReference;
  /** Test files of the configuration. */
  readonly tests: () => readonly SourceFile[];
  /** Names in the document, its configuration and the tests of that. */
  readonly names: () => readonly NameUse[];
}

/** A node of a document with its schema. */
export interface PlacedNode {
  readonly at: NodeAt;
  readonly schema: DocumentSchema;
}

/** Returns the node at an offset with the schema of its document; `undefined` between nodes. */
export function placedNode(context: DocumentContext, offset: number): PlacedNode | undefined {
  const at = nodeAt(context.source, offset);
  const schema = at && context.reference.schemaOf(context.source, at.document, at.path);
  return at && schema && { at, schema };
}

/** Returns the files of its configuration with paths relative to the folder of the document, for texts that people read. */
export function filesBeside({ path: file, project }: DocumentContext): readonly SourceFile[] {
  const folder = path.dirname(file);
  return (project?.checked.files ?? []).map((each) => ({
    ...each,
    path: path.relative(folder, path.resolve(each.path)),
  }));
}

/** Converts offsets in a document to a range. */
export function rangeIn(document: TextDocument, start: number, end: number): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}
