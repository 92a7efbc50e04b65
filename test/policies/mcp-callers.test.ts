import { createHash } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { send } from "../harness/send.ts";
import { initialize } from "../mcp/raw-client.ts";
import { nowhere, startRoutes } from "./routes.ts";

let gateway: Gateway;
let server: Awaited<ReturnType<typeof startMcpServer>>;

beforeAll(async () => {
  server = await startMcpServer();
  const key = (name: string) => ({
    keyHash: `sha256:${createHash("sha256").update(name).digest("hex")}`,
    metadata: { team: name },
  });
  gateway = await startRoutes(
    {
      mcp: {
        policies: {
          apiKey: { keys: [key("alice"), key("bob")] },
          mcpAuthorization: { rules: ['apiKey.team == "alice"'] },
        },
        // With several targets, the session belongs to the gateway.
        backends: [
          {
            mcp: {
              targets: ["one", "two"].map((name) => ({ name, mcp: { host: server.url } })),
            },
          },
        ],
      },
    },
    nowhere,
  );
});

function post(caller: string, message: object, headers: Record<string, string> = {}) {
  const common = {
    authorization: `Bearer ${caller}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  return send(`${gateway.url}/mcp`, "POST", { ...common, ...headers }, JSON.stringify(message));
}

it("rules see the key's metadata, and a session belongs to its caller", async () => {
  const opened = await post("alice", initialize);
  expect(opened.status).toBe(200);
  const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
  await post("alice", { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
  const own = await post("alice", list, session);
  expect(own.status).toBe(200);
  expect(own.body).toContain('"name":');
  expect((await post("bob", list, session)).status).toBe(404);
  expect((await post("nobody", list, session)).status).toBe(401);

  const other = await post("bob", initialize);
  const second = { "mcp-session-id": String(other.headers["mcp-session-id"]) };
  await post("bob", { jsonrpc: "2.0", method: "notifications/initialized" }, second);
  expect((await post("bob", list, second)).body).toContain('"tools":[]');
});
