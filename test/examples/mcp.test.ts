import { readFileSync } from "node:fs";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, expect, it } from "vitest";
import { startEverything } from "../harness/everything-server.ts";
import { type RunningExample, startExample } from "../harness/example-gateway.ts";
import { ownScript } from "../harness/own-script.ts";
import { root } from "../harness/root.ts";
import { TestProcess } from "../harness/test-process.ts";
import { program } from "../harness/tool.ts";
import { connectStateless } from "../mcp/stateless-client.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connect({ port }: RunningExample, token?: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  // The SDK's own type disagrees with itself under exactOptionalPropertyTypes.
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
  cleanups.push(() => client.close());
  return client;
}

async function toolNames(client: Client): Promise<string[]> {
  const { tools } = await client.listTools();
  return tools.map((tool) => tool.name).sort();
}

function token(name: string): string {
  return readFileSync(path.join(root, `examples/authorization/${name}.jwt`), "utf8").trim();
}

it("basic: a client lists and calls the everything server's tools, from a page too", async () => {
  program("npx");
  const example = await startExample("basic");
  const sent = ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"];
  const preflight = await fetch(`http://127.0.0.1:${example.port}/mcp`, {
    method: "OPTIONS",
    headers: {
      origin: "https://app.example.com",
      "access-control-request-method": "POST",
      "access-control-request-headers": sent.join(),
    },
  });
  const taken = preflight.headers.get("access-control-allow-headers")?.split(/, */);
  expect(taken).toEqual(expect.arrayContaining(sent));
  const client = await connect(example);
  expect(await toolNames(client)).toContain("echo");
  const { content } = await client.callTool({ name: "echo", arguments: { message: "hello" } });
  expect(content).toEqual([{ type: "text", text: "Echo: hello" }]);
});

it("authorization: each caller lists what they may call, and nothing else exists for them", async () => {
  program("npx");
  const example = await startExample("authorization");
  await expect(connect(example)).rejects.toThrow(/401|no bearer token/i);
  const user = await connect(example, token("test-user"));
  expect(await toolNames(user)).toEqual(["echo", "get-sum"]);
  await expect(user.callTool({ name: "get-env", arguments: {} })).rejects.toThrow(
    /Unknown tool: get-env/,
  );
  const admin = await toolNames(await connect(example, token("admin")));
  expect(admin).toContain("get-tiny-image");
  expect(admin).not.toContain("get-env");
});

it("multiplex: two servers' tools carry their names, and rules see them without", async () => {
  program("npx");
  const second = await startEverything("streamableHttp");
  const example = await startExample("multiplex", { SECOND: `http://127.0.0.1:${second}/mcp` });
  const client = await connect(example);
  const names = await toolNames(client);
  expect(names.filter((name) => name.startsWith("second_"))).toEqual(["second_echo"]);
  expect(names).toContain("everything_get-sum");
  const { content } = await client.callTool({ name: "second_echo", arguments: { message: "b" } });
  expect(content).toEqual([{ type: "text", text: "Echo: b" }]);
});

it("eras: clients of either era find a server of either, and what they may call", async () => {
  program("npx");
  const script = ownScript("conformance/stateless-server.ts");
  const server = new TestProcess(process.execPath, [script, "http", "reject"]);
  const [, port] = await server.seen(/port (\d+)/);
  const example = await startExample("eras", { STATELESS: `http://127.0.0.1:${port}/mcp` });
  const url = `http://127.0.0.1:${example.port}/mcp`;
  for (const client of [await connect(example), await connectStateless(url)]) {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("sessions_"))).toEqual([
      "sessions_echo",
      "sessions_get-sum",
    ]);
    expect(names).toContain("stateless_test_simple_text");
    const sum = await client.callTool({ name: "sessions_get-sum", arguments: { a: 2, b: 3 } });
    expect(JSON.stringify(sum.content)).toContain("5");
    const simple = await client.callTool({ name: "stateless_test_simple_text", arguments: {} });
    expect(JSON.stringify(simple.content)).toContain("simple text");
    await expect(client.callTool({ name: "sessions_get-env", arguments: {} })).rejects.toThrow(
      "Unknown tool: sessions_get-env",
    );
    await client.close();
  }
});

it("authentication: a client without a token learns where the authorization server is", async () => {
  const { port } = await startExample("authentication", { ISSUER: "http://127.0.0.1:1" });
  const base = `http://127.0.0.1:${port}`;
  const refused = await fetch(`${base}/mcp`, { method: "POST", body: "{}" });
  expect(refused.status).toBe(401);
  const where = `${base}/.well-known/oauth-protected-resource/mcp`;
  expect(refused.headers.get("www-authenticate")).toContain(`resource_metadata="${where}"`);
  const metadata: unknown = await (await fetch(where)).json();
  expect(metadata).toMatchObject({
    resource: `${base}/mcp`,
    authorization_servers: ["http://127.0.0.1:1"],
    scopes_supported: ["read"],
  });
});
