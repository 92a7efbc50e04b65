import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { listen } from "./listen.ts";

/** A real MCP server over streamable HTTP, without sessions, on loopback unless told: tools `hello`, `add` and `drop`, a prompt, a resource. */
export async function startMcpServer(
  address = "127.0.0.1",
): Promise<{ readonly url: string; readonly port: number }> {
  const http = createServer(async (request, response) => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    for (const name of ["hello", "add", "drop"]) {
      server.registerTool(name, {}, () => ({ content: [{ type: "text", text: name }] }));
    }
    server.registerPrompt("ask", {}, () => ({
      messages: [{ role: "user", content: { type: "text", text: "ask" } }],
    }));
    server.registerResource("notes", "memo://notes", {}, (uri) => ({
      contents: [{ uri: uri.href, text: "notes" }],
    }));
    const transport = new StreamableHTTPServerTransport({});
    response.on("close", () => void server.close());
    // The SDK's own type says its sessionId is optional, which exactOptionalPropertyTypes takes by its word.
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response);
  });
  const port = await listen(http, address);
  return { url: `http://127.0.0.1:${port}`, port };
}
