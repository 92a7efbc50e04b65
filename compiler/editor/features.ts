import type {
  CodeAction,
  CodeLens,
  CompletionItem,
  DocumentLink,
  DocumentSymbol,
  FoldingRange,
  Hover,
  InlayHint,
  Location,
  Position,
  Range,
  SemanticTokens,
  SignatureHelp,
  WorkspaceEdit,
} from "vscode-languageserver";
import type { TextDocument } from "vscode-languageserver-textdocument";
import type { SourceFile } from "../diagnostics/source.ts";
import { celCompletions } from "./cel-completion.ts";
import { celHover, celSignatures } from "./cel-info.ts";
import { expressionAt } from "./cel-position.ts";
import { celTokens } from "./cel-tokens.ts";
import { codeActions } from "./code-actions.ts";
import { completionsAt } from "./completion.ts";
import { declarationTexts } from "./declaration-hover.ts";
import { type DocumentContext, placedNode, rangeIn } from "./document-context.ts";
import { FieldReference, phaseAt } from "./field-reference.ts";
import { generatedModule } from "./generated-module.ts";
import { explanationPages, fieldPageAt, hoverOf } from "./hover.ts";
import { nameCompletions } from "./name-completion.ts";
import { NameIndex, type NameUse } from "./names.ts";
import { definitionsAt, linksIn, referencesAt, renameAt, renamedRange } from "./navigation.ts";
import { foldsOf, symbolsOf } from "./outline.ts";
import { type Overview, overviewAt } from "./overview.ts";
import { type FileWithTest, fileWithTestOf } from "./rule-test.ts";
import { type SeenNames, seenNames } from "./seen-names.ts";
import { lensesOf, toolHints, whoCanCall } from "./tool-access.ts";
import { toolTexts } from "./tool-hover.ts";
import type { OpenFile, Workspace } from "./workspace.ts";
import { writtenPosition } from "./written-position.ts";

/** Features of the language server for an open document. */
export class EditorFeatures {
  readonly #workspace: Workspace;
  readonly #reference = new FieldReference();
  readonly #names = new NameIndex(this.#reference);

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Returns the page of what is at a position, and of the diagnostics there. */
  hover(file: string, document: TextDocument, position: Position): Hover | undefined {
    const context = this.#context(file, document);
    if (context === undefined) return undefined;
    const offset = document.offsetAt(position);
    const expression = expressionAt(context, offset);
    const texts = [
      ...declarationTexts(context, offset),
      ...(expression === undefined ? [] : toolTexts(expression, context)),
    ];
    const ofExpression = texts.length > 0 ? undefined : expression && celHover(expression);
    if (ofExpression !== undefined) return ofExpression;
    const found = placedNode(context, offset);
    const page = found && fieldPageAt(found.at, found.schema);
    const findings = this.#workspace.findings.filter(
      ({ location }) =>
        location.path === file && location.start <= offset && offset <= location.end,
    );
    const pages = explanationPages(findings.map(({ code }) => code));
    return hoverOf(texts, page === undefined ? pages : [page, ...pages]);
  }

  /** Returns what can be written at a position. */
  completions(file: string, document: TextDocument, position: Position): readonly CompletionItem[] {
    const context = this.#context(file, document);
    if (context === undefined) return [];
    const offset = document.offsetAt(position);
    const rangeBefore = (length: number) => rangeIn(document, offset - length, offset);
    const expression = expressionAt(context, offset);
    if (expression !== undefined)
      return celCompletions(expression, this.#seen(context), rangeBefore);
    const written = writtenPosition(file, document.getText(), offset);
    const schema =
      written && this.#reference.schemaOf(written.source, written.document, written.path);
    if (written === undefined || schema === undefined) return [];
    const phase = written.role === "value" ? phaseAt(schema, written.path) : undefined;
    const empty = { text: "", offset: 0, rangeOf: () => [offset, offset] as const };
    const variables =
      phase === undefined
        ? []
        : celCompletions({ ...empty, phase, path: written.path }, this.#seen(context), rangeBefore);
    const range = rangeIn(document, written.start, written.end);
    const names = this.#namesWith(context, written.source);
    return [
      ...variables,
      ...nameCompletions(written, schema, names, range),
      ...completionsAt(written, schema, { range, indent: range.start.character }),
    ];
  }

  /** Returns the signatures of the function whose arguments are written at a position. */
  signatures(file: string, document: TextDocument, position: Position): SignatureHelp | undefined {
    const context = this.#context(file, document);
    const expression = context && expressionAt(context, document.offsetAt(position));
    return expression && celSignatures(expression);
  }

  /** Returns the declarations of the name at a position. */
  definitions(file: string, document: TextDocument, position: Position): readonly Location[] {
    const context = this.#context(file, document);
    return context === undefined ? [] : definitionsAt(context, document.offsetAt(position));
  }

  /** Returns the uses of the name at a position. */
  references(
    file: string,
    document: TextDocument,
    position: Position,
    withDeclarations: boolean,
  ): readonly Location[] {
    const context = this.#context(file, document);
    const offset = document.offsetAt(position);
    return context === undefined ? [] : referencesAt(context, offset, withDeclarations);
  }

  /** Returns the range of the name at a position that can be renamed. */
  renamed(file: string, document: TextDocument, position: Position): Range | undefined {
    const context = this.#context(file, document);
    return context && renamedRange(context, document.offsetAt(position));
  }

  /** Returns the edits that rename the name at a position. */
  rename(
    file: string,
    document: TextDocument,
    position: Position,
    newName: string,
  ): WorkspaceEdit | { readonly problem: string } {
    const context = this.#context(file, document);
    if (context === undefined) return { problem: "this is not a file of gwc" };
    return renameAt(context, document.offsetAt(position), newName);
  }

  /** Returns the parts of a document. */
  symbols(file: string, document: TextDocument): readonly DocumentSymbol[] {
    const context = this.#context(file, document);
    return context === undefined ? [] : symbolsOf(context);
  }

  /** Returns the foldable parts of a document. */
  folds(file: string, document: TextDocument): readonly FoldingRange[] {
    const context = this.#context(file, document);
    return context === undefined ? [] : foldsOf(context);
  }

  /** Returns the names of files in a document. */
  links(file: string, document: TextDocument): readonly DocumentLink[] {
    const context = this.#context(file, document);
    return context === undefined ? [] : linksIn(context);
  }

  /** Returns the corrections that hints in a range say to write. */
  actions(file: string, document: TextDocument, range: Range): readonly CodeAction[] {
    const context = this.#context(file, document);
    return context === undefined ? [] : codeActions(context, range);
  }

  /** Returns the tokens of the expressions in a document. */
  tokens(file: string, document: TextDocument): SemanticTokens {
    const context = this.#context(file, document);
    return context === undefined ? { data: [] } : celTokens(context);
  }

  /** Returns how many tools each route allows. */
  hints(file: string, document: TextDocument): readonly InlayHint[] {
    const context = this.#context(file, document);
    return context === undefined ? [] : toolHints(context);
  }

  /** Returns the questions about the routes of a document. */
  lenses(file: string, document: TextDocument): readonly CodeLens[] {
    const context = this.#context(file, document);
    return context === undefined ? [] : lensesOf(context);
  }

  /** Returns who may call the tools of a route of a document. */
  who(file: string, document: TextDocument, route: string): string {
    const context = this.#context(file, document);
    return context?.project === undefined ? "" : whoCanCall(route, context);
  }

  /** Returns the test file with a test of the rule at an offset, or why there is none. */
  async ruleTest(
    file: string,
    document: TextDocument,
    offset: number,
  ): Promise<FileWithTest | string> {
    const context = this.#context(file, document);
    return context === undefined
      ? "this is not a file of gwc"
      : fileWithTestOf(context, offset, this.#workspace.host);
  }

  /** Returns the overview of the configuration of a document at a line. */
  overview(file: string, document: TextDocument, line: number): Overview | undefined {
    const context = this.#context(file, document);
    return context && overviewAt(context, line);
  }

  /** Returns the generated module of a route of a document; `undefined` if its configuration has mistakes. */
  async generated(file: string, route: string): Promise<string | undefined> {
    const project = this.#workspace.file(file)?.project;
    return project && generatedModule(project, route);
  }

  #context(file: string, document: TextDocument): DocumentContext | undefined {
    const open = this.#workspace.file(file);
    if (open === undefined) return undefined;
    const { files } = open.use;
    const context = {
      ...{ path: file, document, source: this.#workspace.source(file), project: open.project },
      reference: this.#reference,
      tests: () => (files === undefined ? [] : this.#workspace.testsOf(files)),
    };
    return { ...context, names: () => this.#namesOf(open, context.source) };
  }

  #namesOf({ path, project, use }: OpenFile, own: SourceFile): readonly NameUse[] {
    const others = [
      ...(project?.sources ?? []),
      ...(use.files === undefined ? [] : this.#workspace.testsOf(use.files)),
    ].filter((file) => file.path !== path);
    return [own, ...others].flatMap((file) => this.#names.of(file));
  }

  /** Returns the names of a configuration in which a document is as it would be with another word. */
  #namesWith({ path, names }: DocumentContext, source: SourceFile): readonly NameUse[] {
    const others = names().filter(({ file }) => file.path !== path);
    return [...this.#names.of(source), ...others];
  }

  #seen({ project, names, tests }: DocumentContext): SeenNames {
    return seenNames(project?.checked.programs ?? [], tests(), names());
  }
}
