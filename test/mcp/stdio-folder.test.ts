import { realpathSync } from "node:fs";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { connectSession } from "./session-client.ts";

/** A server whose only tool returns its working directory. */
const server = `
import { createInterface } from "node:readline";
const results = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } },
  "tools/list": { tools: [{ name: "where", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: process.cwd() }] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method];
  const error = { code: -32601, message: "Method not found" };
  console.log(JSON.stringify(result ? { jsonrpc: "2.0", id, result } : { jsonrpc: "2.0", id, error }));
}
`;

it("a child process runs in the folder that its target names", async () => {
  const folder = realpathSync(temporaryFolder({ "server.mjs": server }));
  const stdio = { cmd: process.execPath, args: ["server.mjs"], cwd: "${SERVER_FOLDER}" };
  const backends = [{ mcp: { targets: [{ name: "a", stdio }] } }];
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends }] }],
    env: { SERVER_FOLDER: folder },
  });
  const client = await connectSession(`${gateway.url}/mcp`, {});
  const { content } = await client.callTool({ name: "where", arguments: {} });
  expect(content).toEqual([{ type: "text", text: folder }]);
  await client.close();
});
