import { tryClaude, tryCodex, tryGemini } from "./agents.ts";
import { tryAppHost } from "./app-host.ts";
import { tryPython } from "./python-clients.ts";
import type { TryClient } from "./trial.ts";
import { tryInspector, trySdkOne, trySdkTwo } from "./typescript-clients.ts";
import { tryVsCode } from "./vscode.ts";

/** A client of the matrix. */
export interface MatrixClient {
  /** Name and version. */
  readonly name: string;
  readonly tries: TryClient;
}

/** Returns the clients, in the order of the reference. `page`: returns the address of a page that hosts apps. */
export const matrixClients = (page: () => string): readonly MatrixClient[] => [
  { name: "TypeScript SDK 1.32.2", tries: trySdkOne },
  { name: "TypeScript SDK 2.3.1", tries: trySdkTwo },
  { name: "Python SDK 2.3.0", tries: tryPython("sdk") },
  { name: "Inspector 2.12.0 (`--cli`)", tries: tryInspector },
  { name: "FastMCP 4.2.3", tries: tryPython("fastmcp") },
  { name: "OpenAI Agents SDK 0.24.0", tries: tryPython("agents") },
  { name: "LangChain adapters 0.3.2", tries: tryPython("langchain") },
  { name: "Claude Code 2.1.197 (`-p`)", tries: tryClaude },
  { name: "Codex 0.171.0 (`exec`)", tries: tryCodex },
  { name: "Gemini CLI 0.61.0 (`--prompt`)", tries: tryGemini },
  { name: "Visual Studio Code 1.139.1", tries: tryVsCode },
  { name: "Page with `ext-apps` 2.0.4 (Chromium)", tries: tryAppHost(page) },
];
