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
  const texts = new ShownTexts();
  const client = newClient(texts);
  context.subscriptions.push(
    client,
    vscode.workspace.registerTextDocumentContentProvider(SHOWN, texts),
    vscode.commands.registerCommand("gwc.restart", () => client.restart()),
    vscode.commands.registerCommand("gwc.diff", showDiff),
    vscode.window.registerWebviewViewProvider("gwc.overview", {
      resolveWebviewView: (view) => keepOverview(view, client),
    }),
  );
  await client.start();
}

function newClient(texts: ShownTexts): LanguageClient {
  const { command, args } = configuredCommand();
  const server = { command, args: [...args, "lsp"], transport: TransportKind.stdio };
  const options: LanguageClientOptions = {
    documentSelector: SELECTOR,
    initializationOptions: { inputs: settings().get("inputs", []) },
    middleware: {
      executeCommand: async (name, given: readonly unknown[], next) => {
        const result: unknown = await next(name, [...given]);
        const title = TITLES.get(name);
        if (typeof result === "string" && title !== undefined)
          await texts.show(title(String(given[1])), result);
        return result;
      },
    },
  };
  return new LanguageClient("gwc", "gwc", server, options);
}

/** Names of the documents that show the results of commands; the ending decides the colors. */
const TITLES: ReadonlyMap<string, (route: string) => string> = new Map([
  ["gwc.whoCanCall", (route) => `who can call ${route}.txt`],
  ["gwc.generatedCode", (route) => `${route}.ts`],
]);

/** Scheme of documents that show results. */
const SHOWN = "gwc";

/** Results of commands as documents that cannot be edited, so that closing them asks nothing. */
class ShownTexts implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  readonly #changes = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changes.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? "";
  }

  async show(name: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SHOWN, path: name });
    this.#texts.set(uri.path, text);
    this.#changes.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    const viewColumn = vscode.ViewColumn.Two;
    await vscode.window.showTextDocument(document, { preview: true, viewColumn });
  }
}

/** Milliseconds after the last movement of the cursor until the panel follows. */
const PANEL_PAUSE = 150;

/** Shows the overview of the active document in the side panel, and follows the cursor. */
function keepOverview(view: vscode.WebviewView, client: LanguageClient): void {
  let latest = 0;
  let waiting: NodeJS.Timeout | undefined;
  const update = async (): Promise<void> => {
    latest += 1;
    const own = latest;
    const overview = await overviewOf(vscode.window.activeTextEditor, client);
    // Responses of earlier positions are outdated.
    if (own === latest) view.webview.html = panelPage(overview);
  };
  const updateSoon = (): void => {
    clearTimeout(waiting);
    waiting = setTimeout(() => void update(), PANEL_PAUSE);
  };
  const changes = [
    vscode.window.onDidChangeTextEditorSelection(updateSoon),
    vscode.window.onDidChangeActiveTextEditor(updateSoon),
    // The server has checked the text: graph and access may be other ones.
    vscode.languages.onDidChangeDiagnostics(updateSoon),
  ];
  view.onDidDispose(() => {
    clearTimeout(waiting);
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
