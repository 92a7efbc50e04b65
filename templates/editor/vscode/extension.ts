import * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  TransportKind,
} from "vscode-languageclient/node";
import { type Overview, panelPage } from "./panel-page.ts";
import { gwcCommand } from "./server-command.ts";

/** Documents that may belong to a configuration; the server decides. */
const SELECTOR = [
  { scheme: "file", language: "yaml" },
  { scheme: "file", language: "json" },
];

/** Starts the language server and the side panel. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const client = newClient();
  context.subscriptions.push(
    client,
    vscode.commands.registerCommand("gwc.restart", () => client.restart()),
    vscode.commands.registerCommand("gwc.diff", showDiff),
    vscode.window.registerWebviewViewProvider("gwc.overview", {
      resolveWebviewView: (view) => keepOverview(view, client),
    }),
  );
  await client.start();
}

function newClient(): LanguageClient {
  const { command, args } = configuredCommand();
  const server = { command, args: [...args, "lsp"], transport: TransportKind.stdio };
  const options: LanguageClientOptions = {
    documentSelector: SELECTOR,
    initializationOptions: { inputs: settings().get("inputs", []) },
    middleware: {
      executeCommand: async (name, given, next) => {
        const result: unknown = await next(name, given);
        if (typeof result === "string" && name !== "gwc.runTests")
          await showText(result, name === "gwc.generatedCode" ? "typescript" : "plaintext");
        return result;
      },
    },
  };
  return new LanguageClient("gwc", "gwc", server, options);
}

async function showText(content: string, language: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ content, language });
  await vscode.window.showTextDocument(document, {
    preview: true,
    viewColumn: vscode.ViewColumn.Two,
  });
}

/** Shows the overview of the active document in the side panel, and follows the cursor. */
function keepOverview(view: vscode.WebviewView, client: LanguageClient): void {
  let latest = 0;
  const update = async (): Promise<void> => {
    latest += 1;
    const own = latest;
    const overview = await overviewOf(vscode.window.activeTextEditor, client);
    // Responses of earlier positions are outdated.
    if (own === latest) view.webview.html = panelPage(overview);
  };
  const changes = [
    vscode.window.onDidChangeTextEditorSelection(update),
    vscode.window.onDidChangeActiveTextEditor(update),
    vscode.workspace.onDidSaveTextDocument(update),
  ];
  view.onDidDispose(() => {
    for (const each of changes) each.dispose();
  });
  void update();
}

async function overviewOf(
  editor: vscode.TextEditor | undefined,
  client: LanguageClient,
): Promise<Overview | undefined> {
  if (editor === undefined || !client.isRunning()) return undefined;
  const given = {
    command: "gwc.overview",
    arguments: [editor.document.uri.fsPath, editor.selection.active.line],
  };
  const found = await client.sendRequest<Overview | null>("workspace/executeCommand", given);
  return found ?? undefined;
}

/** Runs `gwc diff` against the configured branch, in a terminal of its own. */
async function showDiff(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const folder = document && vscode.workspace.getWorkspaceFolder(document.uri);
  if (document === undefined || folder === undefined) return;
  const { command, args } = configuredCommand();
  const base = settings().get("diffBase", "origin/main");
  const file = vscode.workspace.asRelativePath(document.uri, false);
  // No shell: names of files and branches are arguments, whatever they contain.
  const run = new vscode.ProcessExecution(command, [...args, "diff", "--git", base, file], {
    cwd: folder.uri.fsPath,
  });
  const definition = { type: "gwc", command: "diff" };
  const task = new vscode.Task(definition, folder, `access against ${base}`, "gwc", run);
  await vscode.tasks.executeTask(task);
}

function configuredCommand() {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return gwcCommand(
    settings().get<readonly string[]>("command", []),
    folders.map(({ uri }) => uri.fsPath),
  );
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("gwc");
}
