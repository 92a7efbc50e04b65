import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

/** Sessions of the server by their ids. */
const sessions = new Map<string, StreamableHTTPServerTransport>();

/** Serves MCP with sessions: a tool that reports its progress and returns its argument. */
export async function handleMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = String(request.headers["mcp-session-id"] ?? "");
  const transport = sessions.get(id) ?? (await openSession());
  await transport.handleRequest(request, response);
}

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  const server = new McpServer({ name: "soak", version: "1.0.0" });
  const inputSchema = { text: z.string() };
  server.registerTool("echo", { inputSchema }, async ({ text }, { _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    if (progressToken !== undefined)
      await sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress: 1, message: text },
      });
    return { content: [{ type: "text", text }] };
  });
  // The SDK's own type says its sessionId is optional, which exactOptionalPropertyTypes takes by its word.
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  return transport;
}
