import { execFileSync } from "node:child_process";
import path from "node:path";
import { startEverything } from "../../harness/everything-server.ts";
import { freePort } from "../../harness/free-port.ts";
import { type NpmProgram, npmProgram } from "../../harness/npm-program.ts";
import { pause } from "../../harness/pause.ts";
import { pythonFor } from "../../harness/python.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { TestProcess } from "../../harness/test-process.ts";
import { program } from "../../harness/tool.ts";
import { startUpstream } from "../../harness/upstream.ts";

/** A call of a tool, and what its result contains. */
export interface MatrixCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: string;
}

/** Nine real servers: the targets of a gateway, and a call of each. */
export interface NineServers {
  readonly targets: readonly object[];
  readonly calls: readonly MatrixCall[];
}

/** The tool that asks its user for a name, which every client gives as `Ada`. */
export const ASKING_TOOL = "python_ask_user";

/** The tool with an app (MCP Apps). */
export const APP_TOOL = "app_get-time";

/** URI of the app at the gateway. */
export const APP_URI = "ui://app/get-time/mcp-app.html";

/** Starts those that are no children of the gateway, and returns how the gateway reaches all of them. */
export async function startNineServers(): Promise<NineServers> {
  const folder = temporaryFolder({ "files/note.txt": "a note of the matrix" });
  const files = path.join(folder, "files");
  const git = (...parameters: string[]) =>
    execFileSync(program("git"), ["-C", files, ...parameters], { stdio: "ignore" });
  git("init", "--quiet");
  git("add", ".");
  const author = ["-c", "user.name=a", "-c", "user.email=a@b.test"];
  git(...author, "commit", "--quiet", "-m", "First commit of the matrix");
  const page = await startUpstream((request, response) => {
    const isPage = request.url === "/page";
    response.writeHead(isPage ? 200 : 404, { "content-type": "text/plain" });
    response.end(isPage ? "a page of the matrix" : "");
  });
  const python = await pythonFor("agents");
  const port = await freePort();
  const script = path.join(import.meta.dirname, "fastmcp_server.py");
  const server = new TestProcess(python, [script, String(port)]);
  const everything = await startEverything("sse");
  // Its imports alone may take minutes on an overloaded machine.
  while (!server.output.includes("running on")) {
    if (server.hasEnded) throw new Error(server.output);
    await pause(100);
  }
  const node = async (name: string, file: NpmProgram, ...args: string[]) => ({
    name,
    stdio: { cmd: process.execPath, args: [await npmProgram(file), ...args] },
  });
  const module = (name: string, imported: string, ...args: string[]) => ({
    name,
    stdio: { cmd: python, args: ["-m", imported, ...args] },
  });
  const memory = await node("memory", "mcp-server-memory");
  const targets = [
    { name: "all", sse: { host: `http://127.0.0.1:${everything}/sse` } },
    await node("files", "mcp-server-filesystem", files),
    { ...memory, stdio: { ...memory.stdio, env: { MEMORY_FILE_PATH: `${folder}/memory.json` } } },
    await node("thinking", "mcp-server-sequential-thinking"),
    await node("app", "mcp-server-basic-vanillajs", "--stdio"),
    module("time", "mcp_server_time", "--local-timezone", "UTC"),
    module("git", "mcp_server_git", "--repository", files),
    module("web", "mcp_server_fetch", "--allow-private-ips"),
    { name: "python", mcp: { host: `http://127.0.0.1:${port}/mcp` } },
  ];
  const thought = { thought: "a", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
  const noon = { source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" };
  const calls = [
    { tool: "all_echo", arguments: { message: "matrix" }, result: "Echo: matrix" },
    // The server takes the roots of clients that have some, so not every client may read a file of this folder.
    { tool: "files_list_allowed_directories", arguments: {}, result: "llowed directories" },
    { tool: "memory_read_graph", arguments: {}, result: "entities" },
    { tool: "thinking_sequentialthinking", arguments: thought, result: "thoughtHistoryLength" },
    { tool: APP_TOOL, arguments: {}, result: "20" },
    { tool: "time_convert_time", arguments: noon, result: "21:00" },
    {
      tool: "git_git_log",
      arguments: { repo_path: files },
      result: "First commit of the matrix",
    },
    { tool: "web_fetch", arguments: { url: `${page}/page` }, result: "a page of the matrix" },
    { tool: "python_add", arguments: { a: 40, b: 2 }, result: "42" },
  ];
  return { targets, calls };
}
