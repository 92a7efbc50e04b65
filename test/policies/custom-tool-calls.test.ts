import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { ask, connectStateless } from "../mcp/stateless-client.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

const limit = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  options: { highest: { type: "number", default: 10 } },
  async toolCall({ tool, arguments: given }, { highest }, request) {
    if (tool === "drop") throw new Error("no such table");
    if (Number(given["amount"] ?? 0) > highest) return request.refuse(403, "more than " + highest);
  },
});
`;

let gateway: Gateway;

beforeAll(async () => {
  const server = await startMcpServer();
  const custom = [{ use: "./policies/limit.ts" }];
  gateway = await startRoutes(
    {
      one: {
        policies: { custom },
        backends: [{ mcp: { targets: [{ name: "main", mcp: { host: server.url } }] } }],
      },
    },
    server,
    { "policies/limit.ts": limit },
  );
});

it("a call of a session is passed, refused or failed by its name and arguments", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/one`));
  // The SDK's type declares an optional sessionId, which exactOptionalPropertyTypes rejects.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const call = (name: string, amount: number) =>
    client.callTool({ name, arguments: { amount } }).then(({ content }) => JSON.stringify(content));
  expect(await call("add", 5)).toContain("add");
  await expect(call("add", 50)).rejects.toThrow("more than 10");
  await expect(call("drop", 1)).rejects.toThrow();
  await expect.poll(() => gateway.output).toContain("toolCall: Error: no such table");
  expect((await client.listTools()).tools).toHaveLength(3);
});

it("a call of a stateless client is treated alike", async () => {
  const client = await connectStateless(`${gateway.url}/one`);
  expect((await client.callTool({ name: "add", arguments: { amount: 5 } })).content).toHaveLength(
    1,
  );
  await expect(client.callTool({ name: "add", arguments: { amount: 50 } })).rejects.toThrow(
    "more than 10",
  );
  const params = { name: "add", arguments: { amount: 50 } };
  expect((await ask(`${gateway.url}/one`, "tools/call", params)).text).toContain("more than 10");
});

it("a hook about messages that the route does not have is a mistake", () => {
  const files = { "policies/limit.ts": limit };
  const policies = { custom: [{ use: "./policies/limit.ts" }] };
  expect(findings({ policies }, files)).toEqual(["policy-module"]);
  const body = limit.replace(
    "toolCall({ tool, arguments: given }, { highest }, request) {",
    "requestBody() {",
  );
  const mcp = { mcp: { targets: [{ name: "main", mcp: { host: "http://127.0.0.1:1/mcp" } }] } };
  const plain = body.replace(/^ {4}if.*\n/gm, "");
  expect(findings({ policies, backends: [mcp] }, { "policies/limit.ts": plain })).toContain(
    "policy-module",
  );
});
