import { createServer } from "node:http";
import { json } from "node:stream/consumers";

// An MCP server of both eras that answers whatever it is asked at once: what it says of itself, or the result of a tool.
// Prints its port.

interface Asked {
  readonly id?: number | string;
  readonly method?: string;
}

const versions = { protocolVersion: "2025-11-25", supportedVersions: ["2026-07-28"] };
const itself = {
  ...versions,
  ...{ capabilities: { tools: {} }, serverInfo: { name: "bench", version: "1" } },
  ...{ resultType: "complete", ttlMs: 0, cacheScope: "private" },
};
const called = { resultType: "complete", content: [{ type: "text", text: "word ".repeat(40) }] };

const server = createServer(async (request, response) => {
  const { id, method = "" } = (await json(request)) as Asked;
  const isOpening = method === "initialize" || method === "server/discover";
  const body = JSON.stringify({ jsonrpc: "2.0", id, result: isOpening ? itself : called });
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": body.length,
    ...(method === "initialize" && { "mcp-session-id": "session" }),
  });
  response.end(body);
});

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") {
    process.stdout.write(`listening on 127.0.0.1:${address.port}\n`);
  }
});
