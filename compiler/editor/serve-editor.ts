import path from "node:path";
import { pathToFileURL } from "node:url";
import {
  createConnection,
  type Diagnostic,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  type InitializeResult,
  MessageType,
  ProposedFeatures,
  ShowMessageNotification,
  TextDocumentSyncKind,
  TextDocuments,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { bugReport } from "../diagnostics/report/bug.ts";
import type { Host } from "../host.ts";
import { editorDiagnostics } from "./editor-diagnostics.ts";
import { EditorFeatures } from "./features.ts";
import { handleRequests, REQUEST_CAPABILITIES } from "./handle-requests.ts";
import type { FileWithTest } from "./rule-test.ts";
import { COMMANDS } from "./tool-access.ts";
import { fileOfUri } from "./uris.ts";
import { Workspace } from "./workspace.ts";

/** Streams of the editor. */
export interface EditorStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Milliseconds without another change after which diagnostics are computed. */
const TYPING_PAUSE = 40;

/** Serves an editor by the Language Server Protocol until the editor ends the connection. */
export function serveEditor(
  { input, output }: EditorStreams,
  host: Host,
  version: string,
): Promise<void> {
  const connection = createConnection(ProposedFeatures.all, input, output);
  const documents = new TextDocuments(TextDocument);
  const workspace = new Workspace(host);
  const features = new EditorFeatures(workspace);
  const shown = new Set<string>();
  let waiting: NodeJS.Timeout | undefined;

  const publish = (): void => {
    const byPath = editorDiagnostics(workspace.findings);
    const open = workspace.files.map((file) => file.path);
    // An open document gets its diagnostics even if there are none, so that the editor knows which version they are of.
    const paths = new Set([...shown, ...open, ...byPath.keys()]);
    shown.clear();
    for (const file of paths) {
      const diagnostics: readonly Diagnostic[] = byPath.get(file) ?? [];
      if (diagnostics.length > 0) shown.add(file);
      const uri = uriOf(file, documents);
      const document = documents.get(uri);
      void connection.sendDiagnostics({
        uri,
        diagnostics: [...diagnostics],
        ...(document && { version: document.version }),
      });
    }
  };
  const publishSoon = (): void => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      try {
        publish();
      } catch (error) {
        // The next text may not meet the bug, and the editor keeps its server.
        connection.console.error(bugReport(error, true));
      }
    }, TYPING_PAUSE);
  };

  let canWatch = false;
  connection.onInitialize((params): InitializeResult => {
    canWatch = params.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    workspace.configure(configuredInputs(params));
    return {
      serverInfo: { name: "gwc", version },
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        ...REQUEST_CAPABILITIES,
      },
    };
  });
  connection.onInitialized(() => {
    if (!canWatch) return;
    const watchers = [{ globPattern: WATCHED }];
    // An editor that refuses still has a server, which reads files again when a document is saved.
    connection.client
      .register(DidChangeWatchedFilesNotification.type, { watchers })
      .catch((error: unknown) => connection.console.warn(String(error)));
  });
  connection.onDidChangeWatchedFiles(() => {
    workspace.changeFiles();
    publishSoon();
  });

  documents.onDidChangeContent(({ document }) => {
    const file = fileOfUri(document.uri);
    if (file === undefined) return;
    workspace.open(file, document.getText());
    publishSoon();
  });
  documents.onDidClose(({ document }) => {
    const file = fileOfUri(document.uri);
    if (file === undefined) return;
    workspace.close(file);
    publishSoon();
  });
  documents.onDidSave(() => {
    workspace.changeFiles();
    publishSoon();
  });

  // A notification, because an editor may not respond to requests of this kind.
  const show = async (message: string): Promise<string> => {
    const type = MessageType.Info;
    await connection.sendNotification(ShowMessageNotification.type, { type, message });
    return message;
  };
  const addTest = async (added: FileWithTest | string): Promise<string> => {
    if (typeof added === "string") return show(added);
    const uri = uriOf(added.path, documents);
    const range = { start: { line: 0, character: 0 }, end: { line: 1_000_000, character: 0 } };
    const isNew = host.readText(added.path).kind !== "text" && documents.get(uri) === undefined;
    await connection.workspace.applyEdit({
      documentChanges: [
        ...(isNew ? [{ kind: "create" as const, uri }] : []),
        {
          textDocument: { uri, version: documents.get(uri)?.version ?? null },
          edits: [{ range, newText: added.text }],
        },
      ],
    });
    return show(`added to ${path.basename(added.path)}: ${added.name}`);
  };
  handleRequests(connection, documents, features);
  connection.onExecuteCommand(async ({ command, arguments: given = [] }) => {
    const [file, route = ""] = given.map(String);
    if (file === undefined) return undefined;
    if (command === COMMANDS.generated) return features.generated(file, route);
    const document = documents.get(uriOf(file, documents));
    if (command === COMMANDS.overview)
      return document && features.overview(file, document, Number(route));
    if (command === COMMANDS.who) return document && features.who(file, document, route);
    if (command === COMMANDS.addTest)
      return document && addTest(await features.ruleTest(file, document, Number(route)));
    const summary = await workspace.runTests(file);
    publish();
    return show(summary);
  });
  documents.listen(connection);
  connection.listen();
  return new Promise((resolve) => {
    connection.onExit(() => {
      clearTimeout(waiting);
      resolve();
    });
  });
}

/** Files that a configuration may refer to. */
const WATCHED = "**/*.{yaml,yml,json,ts,js,mjs,pem,crt,key,txt}";

/** Returns the inputs of `initializationOptions`, relative to the workspace: `{"inputs": ["manifests"]}`. */
function configuredInputs({ initializationOptions: given, workspaceFolders }: InitializeParams) {
  const inputs: unknown = Object(given).inputs;
  const folder = fileOfUri(workspaceFolders?.[0]?.uri ?? "") ?? process.cwd();
  const names = Array.isArray(inputs) ? inputs : [];
  return names.flatMap((name: unknown) =>
    typeof name === "string" ? path.resolve(folder, name) : [],
  );
}

/** Returns the address of a file as the editor writes it, if it is open there. */
function uriOf(file: string, documents: TextDocuments<TextDocument>): string {
  const open = documents.keys().find((uri) => fileOfUri(uri) === file);
  return open ?? pathToFileURL(file).href;
}
