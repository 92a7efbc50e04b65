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

const results = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  options: { hidden: { type: "string", default: "drop" } },
  toolResult({ tool, result }, _options, request) {
    if (request.headers.get("x-fail") !== null) throw new Error("no such table");
    if (request.headers.get("x-odd") !== null) return { text: "odd" };
    if (tool === "drop") return request.refuse(403, "not for you");
    return JSON.parse(JSON.stringify(result).replaceAll("add", "[masked]"));
  },
  toolList(tools, { hidden }, request) {
    if (request.headers.get("x-odd") !== null) return [{ name: "other" }];
    return tools.filter(({ name }) => name !== hidden);
  },
});
`;

let gateway: Gateway;

beforeAll(async () => {
  const server = await startMcpServer();
  const custom = [{ use: "./policies/limit.ts" }];
  const backends = [{ mcp: { targets: [{ name: "main", mcp: { host: server.url } }] } }];
  gateway = await startRoutes(
    {
      one: {
        policies: { custom },
        backends,
      },
      results: { policies: { custom: [{ use: "./policies/results.ts" }] }, backends },
      open: {
        policies: { custom: [{ use: "./policies/results.ts", failureMode: "failOpen" }] },
        backends,
      },
    },
    server,
    { "policies/limit.ts": limit, "policies/results.ts": results },
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

async function connect(path: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/${path}`), {
    requestInit: { headers },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

it("results and lists are changed, or results refused", async () => {
  const client = await connect("results");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["hello", "add"]);
  const text = async (name: string) =>
    JSON.stringify((await client.callTool({ name, arguments: {} })).content);
  expect(await text("add")).toContain("[masked]");
  expect(await text("hello")).toContain("hello");
  await expect(client.callTool({ name: "drop", arguments: {} })).rejects.toThrow("not for you");
  const stateless = await connectStateless(`${gateway.url}/results`);
  expect((await stateless.listTools()).tools.map(({ name }) => name)).toEqual(["hello", "add"]);
  const { content } = await stateless.callTool({ name: "add", arguments: {} });
  expect(JSON.stringify(content)).toContain("[masked]");
});

it("a hook for results that fails refuses them, unless it may fail", async () => {
  for (const headers of [{ "x-fail": "1" }, { "x-odd": "1" }]) {
    const closed = await connect("results", headers);
    await expect(closed.callTool({ name: "add", arguments: {} })).rejects.toThrow("internal error");
    const open = await connect("open", headers);
    const { content } = await open.callTool({ name: "add", arguments: {} });
    expect(JSON.stringify(content)).toContain("add");
  }
  const odd = await connect("results", { "x-odd": "1" });
  await expect(odd.listTools()).rejects.toThrow("internal error");
  await expect.poll(() => gateway.output).toContain("toolResult: Error: no such table");
  await expect.poll(() => gateway.output).toContain("not in the list: other");
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
