import { fileURLToPath } from "node:url";
import { type Case, type Cost, compare } from "./compare.ts";
import { type Pace, start } from "./duel.ts";

/** How many times as many calls the revision without sessions gets with the same CPU as those with, at least. */
export const eraGoals = { "": 1.2, ", with a rule": 1.1 } as const;

/** Measures calls of a tool through one target, in either era. */
export async function measureMcp(pace: Pace): Promise<readonly Cost[]> {
  const script = fileURLToPath(new URL("mcp-upstream.ts", import.meta.url));
  const upstream = await start({ script, environment: {} }, "");
  const host = `127.0.0.1:${upstream.port}`;
  try {
    return await compare(cases(host), host, pace);
  } finally {
    upstream.process.kill("SIGKILL");
  }
}

function cases(host: string): readonly Case[] {
  const mcp = { targets: [{ name: "one", mcp: { host: `http://${host}/mcp` } }] };
  const rules = ['mcp.tool.name == "echo"'];
  const open = [{ name: "tools", backends: [{ mcp }] }];
  const ruled = [{ name: "tools", policies: { mcpAuthorization: { rules } }, backends: [{ mcp }] }];
  const plain = [{ name: "tools", backends: [{ host }] }];
  return [
    { name: "plain POST", routes: plain, requests: [statelessCall] },
    { name: "plain POST again", gateway: "plain POST", routes: [], requests: [statelessCall] },
    { name: "sessions", routes: open, requests: sessionCalls },
    { name: "stateless", routes: open, requests: [statelessCall] },
    { name: "sessions, with a rule", routes: ruled, requests: sessionCalls },
    { name: "stateless, with a rule", routes: ruled, requests: [statelessCall] },
  ];
}

const ACCEPT = "application/json, text/event-stream";
const call = { name: "echo", arguments: { message: "word ".repeat(20) } };

const about = "io.modelcontextprotocol";
const statelessCall = post(
  ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: echo"],
  "tools/call",
  {
    ...call,
    _meta: {
      [`${about}/protocolVersion`]: "2026-07-28",
      [`${about}/clientCapabilities`]: { elicitation: {} },
      [`${about}/clientInfo`]: { name: "bench", version: "1" },
    },
  },
);

/** Calls in a session that this gateway has given. */
async function sessionCalls(port: number): Promise<readonly string[]> {
  const opening = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { accept: ACCEPT, "content-type": "application/json" },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 0, method: "initialize" },
      params: {
        ...{ protocolVersion: "2025-11-25", capabilities: { elicitation: {} } },
        clientInfo: { name: "bench", version: "1" },
      },
    }),
  });
  await opening.text();
  const id = opening.headers.get("mcp-session-id");
  const headers = ["MCP-Protocol-Version: 2025-11-25", `Mcp-Session-Id: ${id}`];
  return [post(headers, "tools/call", call)];
}

function post(headers: readonly string[], method: string, params: object): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const head = [
    "POST /mcp HTTP/1.1",
    "Host: tools.example.com",
    `Accept: ${ACCEPT}`,
    "Content-Type: application/json",
    ...headers,
    `Content-Length: ${body.length}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
