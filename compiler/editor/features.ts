import type { CompletionItem, Hover, Position } from "vscode-languageserver";
import type { TextDocument } from "vscode-languageserver-textdocument";
import type { SourceFile } from "../diagnostics/source.ts";
import { completionsAt } from "./completion.ts";
import { FieldReference } from "./field-reference.ts";
import { explanationPages, fieldPageAt, hoverOf } from "./hover.ts";
import { nameCompletions } from "./name-completion.ts";
import { NameIndex, type NameUse } from "./names.ts";
import { nodeAt } from "./node-at.ts";
import type { OpenFile, Workspace } from "./workspace.ts";
import { writtenPosition } from "./written-position.ts";

/** EditorFeatures of the language server for one position of a document. */
export class EditorFeatures {
  readonly #workspace: Workspace;
  readonly #reference = new FieldReference();
  readonly #names = new NameIndex(this.#reference);

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Returns the page of what is at a position, and of the diagnostics there. */
  hover(file: string, document: TextDocument, position: Position): Hover | undefined {
    const open = this.#workspace.file(file);
    if (open === undefined) return undefined;
    const source = this.#workspace.source(file);
    const offset = document.offsetAt(position);
    const at = nodeAt(source, offset);
    const schema = at && this.#reference.schemaOf(source, at.document, at.path);
    const page = at && schema && fieldPageAt(at, schema);
    const findings = this.#workspace.findings.filter(
      ({ location }) =>
        location.path === file && location.start <= offset && offset <= location.end,
    );
    const pages = explanationPages(findings.map(({ code }) => code));
    return hoverOf(page === undefined ? pages : [page, ...pages]);
  }

  /** Returns what can be written at a position. */
  completions(file: string, document: TextDocument, position: Position): readonly CompletionItem[] {
    const open = this.#workspace.file(file);
    if (open === undefined) return [];
    const written = writtenPosition(file, document.getText(), document.offsetAt(position));
    const schema =
      written && this.#reference.schemaOf(written.source, written.document, written.path);
    if (written === undefined || schema === undefined) return [];
    const { start, end } = written;
    const range = { start: document.positionAt(start), end: document.positionAt(end) };
    const names = this.#namesOf(open, written.source);
    return [
      ...nameCompletions(written, schema, names, range),
      ...completionsAt(written, schema, { range, indent: range.start.character }),
    ];
  }

  /** Returns the names of the configuration of a document; `own` is the document as it is being written. */
  #namesOf({ path, project }: OpenFile, own: SourceFile): readonly NameUse[] {
    const others = (project?.sources ?? []).filter((file) => file.path !== path);
    return [own, ...others].flatMap((file) => this.#names.of(file));
  }
}
