import {
  CodeActionKind,
  type Connection,
  ErrorCodes,
  ResponseError,
  type ServerCapabilities,
  type TextDocuments,
} from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { TOKEN_TYPES } from "./cel-tokens.ts";
import type { EditorFeatures } from "./features.ts";
import { COMMANDS } from "./tool-access.ts";
import { fileOfUri } from "./uris.ts";

/** Requests that the server responds to. */
export const REQUEST_CAPABILITIES: ServerCapabilities = {
  hoverProvider: true,
  completionProvider: { triggerCharacters: [" ", ".", '"', "'", "-", "("] },
  signatureHelpProvider: { triggerCharacters: ["(", ","] },
  definitionProvider: true,
  referencesProvider: true,
  renameProvider: { prepareProvider: true },
  documentSymbolProvider: true,
  documentLinkProvider: {},
  foldingRangeProvider: true,
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.Refactor] },
  semanticTokensProvider: {
    legend: { tokenTypes: TOKEN_TYPES, tokenModifiers: [] },
    full: true,
  },
  inlayHintProvider: true,
  codeLensProvider: {},
  executeCommandProvider: { commands: Object.values(COMMANDS) },
};

/** Parameters of a request about a document. */
interface AboutDocument {
  readonly textDocument: { readonly uri: string };
}

/** Responds to requests with the features of open documents; those about other documents have no result. */
export function handleRequests(
  connection: Connection,
  documents: TextDocuments<TextDocument>,
  features: EditorFeatures,
): void {
  const about =
    <Params extends AboutDocument, Result>(
      feature: (file: string, document: TextDocument, params: Params) => Result,
    ) =>
    (params: Params): Result | undefined => {
      const { uri } = params.textDocument;
      const [document, file] = [documents.get(uri), fileOfUri(uri)];
      return document && file !== undefined ? feature(file, document, params) : undefined;
    };
  connection.onHover(
    about((file, document, { position }) => features.hover(file, document, position)),
  );
  connection.onCompletion(
    about((file, document, { position }) => [...features.completions(file, document, position)]),
  );
  connection.onSignatureHelp(
    about((file, document, { position }) => features.signatures(file, document, position)),
  );
  connection.onDefinition(
    about((file, document, { position }) => [...features.definitions(file, document, position)]),
  );
  connection.onReferences(
    about((file, document, { position, context }) => [
      ...features.references(file, document, position, context.includeDeclaration),
    ]),
  );
  connection.onPrepareRename(
    about((file, document, { position }) => features.renamed(file, document, position)),
  );
  connection.onRenameRequest(
    about((file, document, { position, newName }) => {
      const found = features.rename(file, document, position, newName);
      return "problem" in found
        ? new ResponseError(ErrorCodes.InvalidParams, found.problem)
        : found;
    }),
  );
  connection.onCodeAction(
    about((file, document, { range }) => [...features.actions(file, document, range)]),
  );
  connection.onCodeLens(about((file, document) => [...features.lenses(file, document)]));
  connection.languages.inlayHint.on(about((file, document) => [...features.hints(file, document)]));
  connection.languages.semanticTokens.on(
    (params) => about((file, document) => features.tokens(file, document))(params) ?? { data: [] },
  );
  connection.onDocumentSymbol(about((file, document) => [...features.symbols(file, document)]));
  connection.onDocumentLinks(about((file, document) => [...features.links(file, document)]));
  connection.onFoldingRanges(about((file, document) => [...features.folds(file, document)]));
}
