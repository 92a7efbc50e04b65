import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  type CompletionItem,
  CompletionRequest,
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  type Hover,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  type InitializeResult,
  type Position,
  type ProtocolConnection,
  type ProtocolRequestType,
  PublishDiagnosticsNotification,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { atEnd } from "./at-end.ts";
import { eventually } from "./eventually.ts";
import { executable } from "./gwc.ts";
import { Workspace } from "./workspace.ts";

/** Diagnostics of a document, and the version that they are of. */
interface Published {
  readonly version: number | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** A position in a document. */
interface AboutPosition {
  readonly textDocument: { readonly uri: string };
  readonly position: Position;
}

/**
 * An editor with a folder, whose language server is `gwc lsp` in a process of its own. Positions are written as `|` in
 * texts.
 */
export class Editor {
  readonly workspace: Workspace;
  readonly connection: ProtocolConnection;
  readonly #child: ChildProcess;
  readonly #published = new Map<string, Published>();
  readonly #texts = new Map<string, { version: number; text: string }>();
  capabilities: InitializeResult["capabilities"] = {};

  private constructor(workspace: Workspace) {
    this.workspace = workspace;
    this.#child = spawn(process.execPath, [executable, "lsp", "--stdio"], {
      cwd: workspace.folder,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const { stdin, stdout } = this.#child;
    if (stdin === null || stdout === null) throw new Error("it has no streams");
    this.connection = createProtocolConnection(
      new StreamMessageReader(stdout),
      new StreamMessageWriter(stdin),
    );
    this.connection.onNotification(PublishDiagnosticsNotification.type, (given) => {
      const { uri, version, diagnostics } = given;
      this.#published.set(path.relative(workspace.folder, fileURLToPath(uri)), {
        version,
        diagnostics,
      });
    });
    this.connection.listen();
    atEnd(() => this.#child.kill("SIGKILL"));
  }

  /** Starts a language server for a folder with these files, or for some of its folders. */
  static async start(
    files: Readonly<Record<string, string>> = {},
    options: object = {},
    folders: readonly string[] = ["."],
  ): Promise<Editor> {
    const editor = new Editor(new Workspace(files));
    const rootUri = pathToFileURL(editor.workspace.folder).href;
    const { capabilities } = await editor.connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri,
      workspaceFolders: folders.map((name) => ({ uri: editor.uri(name), name })),
      capabilities: { workspace: { workspaceFolders: true } },
      initializationOptions: options,
    });
    editor.capabilities = capabilities;
    await editor.connection.sendNotification(InitializedNotification.type, {});
    return editor;
  }

  /** Resident memory of the server, in MiB. */
  get memory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  /** Opens a document, whose file need not exist. */
  async open(name: string, text: string): Promise<void> {
    this.#texts.set(name, { version: 1, text });
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: this.uri(name), languageId: "yaml", version: 1, text },
    });
  }

  /** Replaces the text of an open document. */
  async change(name: string, text: string): Promise<void> {
    const version = (this.#texts.get(name)?.version ?? 0) + 1;
    this.#texts.set(name, { version, text });
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: this.uri(name), version },
      contentChanges: [{ text }],
    });
  }

  /** Replaces a part of an open document, given by offsets, as an editor does while someone types. */
  async edit(name: string, start: number, end: number, newText: string): Promise<void> {
    const before = this.text(name);
    const version = (this.#texts.get(name)?.version ?? 0) + 1;
    const text = before.slice(0, start) + newText + before.slice(end);
    this.#texts.set(name, { version, text });
    const range = { start: positionIn(before, start), end: positionIn(before, end) };
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: this.uri(name), version },
      contentChanges: [{ range, text: newText }],
    });
  }

  async close(name: string): Promise<void> {
    this.#texts.delete(name);
    await this.connection.sendNotification(DidCloseTextDocumentNotification.type, {
      textDocument: { uri: this.uri(name) },
    });
  }

  /** Returns the current text of an open document. */
  text(name: string): string {
    return this.#texts.get(name)?.text ?? "";
  }

  /** Returns the diagnostics of the current text of an open document. */
  async diagnostics(name: string): Promise<readonly Diagnostic[]> {
    const { version } = this.#texts.get(name) ?? {};
    return eventually(() => {
      const found = this.#published.get(name);
      return found !== undefined && found.version === version ? found.diagnostics : null;
    }, `diagnostics of ${name}`);
  }

  /** Returns the last diagnostics of a file, whether it is open or not, as soon as they satisfy a condition. */
  async diagnosticsWhere(
    name: string,
    isGood: (diagnostics: readonly Diagnostic[]) => boolean,
  ): Promise<readonly Diagnostic[]> {
    return eventually(() => {
      const { diagnostics = [] } = this.#published.get(name) ?? {};
      return isGood(diagnostics) ? diagnostics : null;
    }, `other diagnostics of ${name}`);
  }

  /** Opens a text with `|` at the position that is asked about. */
  async openAt(name: string, marked: string): Promise<Position> {
    const offset = marked.indexOf("|");
    const text = marked.slice(0, offset) + marked.slice(offset + 1);
    await (this.#texts.has(name) ? this.change(name, text) : this.open(name, text));
    return positionIn(text, offset);
  }

  /** Returns the hover at the `|` of a text, as Markdown; empty if there is none. */
  async hover(name: string, marked: string): Promise<string> {
    const position = await this.openAt(name, marked);
    const found: Hover | null = await this.connection.sendRequest(HoverRequest.type, {
      textDocument: { uri: this.uri(name) },
      position,
    });
    const contents = found?.contents;
    return typeof contents === "object" && "value" in contents ? contents.value : "";
  }

  /** Returns the completions at the `|` of a text. */
  async completions(name: string, marked: string): Promise<readonly CompletionItem[]> {
    const position = await this.openAt(name, marked);
    const found = await this.connection.sendRequest(CompletionRequest.type, {
      textDocument: { uri: this.uri(name) },
      position,
    });
    return Array.isArray(found) ? found : (found?.items ?? []);
  }

  /** Sends a request about the `|` of a text. */
  async ask<Params, Result, Part>(
    { method }: ProtocolRequestType<Params, Result, Part, void, unknown>,
    name: string,
    marked: string,
    params: Omit<Params, keyof AboutPosition>,
  ): Promise<Result> {
    const position = await this.openAt(name, marked);
    const textDocument = { uri: this.uri(name) };
    return this.connection.sendRequest(method, { ...params, textDocument, position });
  }

  /** Ends the server as editors do; resolves with its exit code. */
  async stop(): Promise<number | null> {
    const exited = new Promise<number | null>((resolve) => this.#child.once("exit", resolve));
    await this.connection.sendRequest(ShutdownRequest.type);
    await this.connection.sendNotification(ExitNotification.type);
    return exited;
  }

  uri(name: string): string {
    return pathToFileURL(this.workspace.path(name)).href;
  }
}

/** Converts an offset to a position of the protocol. */
export function positionIn(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}
