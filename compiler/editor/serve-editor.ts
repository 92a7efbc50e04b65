import path from "node:path";
import { pathToFileURL } from "node:url";
import {
  createConnection,
  type Diagnostic,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  type InitializeResult,
  LSPErrorCodes,
  Message,
  MessageType,
  ProposedFeatures,
  type ResponseMessage,
  ShowMessageNotification,
  TextDocumentSyncKind,
  TextDocuments,
  type WorkspaceFolder,
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
  const connection = createConnection(ProposedFeatures.all, input, output, { cancelUndispatched });
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
  let hasFolders = false;
  let folders: readonly string[] = [];
  let inputs: readonly string[] = [];
  connection.onInitialize((params): InitializeResult => {
    const client = params.capabilities.workspace;
    canWatch = client?.didChangeWatchedFiles?.dynamicRegistration === true;
    hasFolders = client?.workspaceFolders === true;
    folders = foldersOf(params);
    inputs = inputsOf(params);
    workspace.configure(resolvedInputs(inputs, folders));
    return {
      serverInfo: { name: "gwc", version },
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        ...REQUEST_CAPABILITIES,
        workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
      },
    };
  });
  connection.onInitialized(() => {
    if (hasFolders)
      connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        const gone = new Set(pathsOf(removed));
        folders = [...folders.filter((folder) => !gone.has(folder)), ...pathsOf(added)];
        workspace.configure(resolvedInputs(inputs, folders));
        publishSoon();
      });
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

/** Responds to a request that the editor cancels before its turn: while someone types, most of them wait for a check. */
function cancelUndispatched(message: Message): ResponseMessage | undefined {
  if (!Message.isRequest(message)) return undefined;
  const error = { code: LSPErrorCodes.RequestCancelled, message: "cancelled by the editor" };
  return { jsonrpc: message.jsonrpc, id: message.id, error };
}

/** Files that a configuration may refer to. */
const WATCHED = "**/*.{yaml,yml,json,ts,js,mjs,pem,crt,key,txt}";

/** Returns the inputs of `initializationOptions`: `{"inputs": ["manifests"]}`. */
function inputsOf({ initializationOptions: given }: InitializeParams): readonly string[] {
  const inputs: unknown = Object(given).inputs;
  const names: readonly unknown[] = Array.isArray(inputs) ? inputs : [];
  return names.filter((name) => typeof name === "string");
}

/** Returns the folders of the workspace; the working folder of the server if the editor names none. */
function foldersOf({ workspaceFolders, rootUri }: InitializeParams): readonly string[] {
  const root = typeof rootUri === "string" ? [{ uri: rootUri, name: "" }] : [];
  const found = pathsOf(workspaceFolders ?? root);
  return found.length > 0 ? found : [process.cwd()];
}

function pathsOf(folders: readonly WorkspaceFolder[]): readonly string[] {
  return folders.flatMap(({ uri }) => fileOfUri(uri) ?? []);
}

/** Returns the paths of inputs: each folder of the workspace may have them. */
function resolvedInputs(inputs: readonly string[], folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => inputs.map((name) => path.resolve(folder, name)));
}

/** Returns the address of a file as the editor writes it, if it is open there. */
function uriOf(file: string, documents: TextDocuments<TextDocument>): string {
  const open = documents.keys().find((uri) => fileOfUri(uri) === file);
  return open ?? pathToFileURL(file).href;
}
