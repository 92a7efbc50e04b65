import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { type McpProcessor, type Question, startMcpProcessor } from "../harness/mcp-processor.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { patient } from "../harness/patient-callout.ts";
import { openSession, post, send, toolCall } from "../mcp/raw-client.ts";
import { type SeenRequest, startUpstream } from "../mcp/raw-upstream.ts";
import { ask, connectStateless } from "../mcp/stateless-client.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

let processor: McpProcessor;
let second: McpProcessor;
let gateway: Gateway;
/** The requests that the server received. */
let received: readonly SeenRequest[] = [];

beforeAll(async () => {
  [processor, second] = await Promise.all([startMcpProcessor(), startMcpProcessor()]);
  const tools = await startMcpServer();
  const echo = await startUpstream((response, { method }, { id, method: called, params }) => {
    if (method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`id: 1\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: 7, result: {} })}\n\n`);
      return;
    }
    const result =
      called === "initialize"
        ? {
            protocolVersion: "2025-06-18",
            capabilities: { tools: {} },
            serverInfo: { name: "echo", version: "1" },
          }
        : called === "tools/list"
          ? { tools: ["one", "two"].map((name) => ({ name, inputSchema: { type: "object" } })) }
          : { content: [{ type: "text", text: JSON.stringify(params) }] };
    response.writeHead(id === undefined ? 202 : 200, {
      "content-type": "application/json",
      ...(called === "initialize" && { "mcp-session-id": "s" }),
    });
    const answer = { jsonrpc: "2.0", id, result };
    const { name } = (params ?? {}) as { name?: string };
    response.end(id === undefined ? "" : JSON.stringify(name === "batch" ? [answer] : answer));
  });
  received = echo.seen;
  const rule = { host: processor.host, policies: patient, methods: { "*": "full" } };
  const route = (processors: readonly object[], mcp: object = {}) => ({
    policies: { mcpGuardrails: { processors } },
    backends: [{ mcp: { targets: [{ name: "main", mcp: { host: tools.url } }], ...mcp } }],
  });
  gateway = await startRoutes(
    {
      plain: route([
        {
          ...rule,
          metadata: {
            path: "request.path",
            tool: "mcp.tool.name",
            server: "mcp.tool.target",
            amount: "mcp.tool.arguments.a",
            method: "mcp.methodName",
          },
        },
      ]),
      chain: route([
        { ...rule, methods: { "tools/*": "request" } },
        { ...rule, host: second.host, methods: { "*/list": "response", "tools/call": "full" } },
      ]),
      open: route([{ ...rule, failureMode: "failOpen" }]),
      few: route([
        { ...rule, requestHeaders: { allowed: ["x-team", ":path"], disallowed: [":path"] } },
      ]),
      echo: route([rule], { targets: [{ name: "echo", mcp: { host: echo.url } }] }),
      merged: route([rule], {
        targets: [
          { name: "a", mcp: { host: echo.url } },
          { name: "b", mcp: { host: tools.url } },
        ],
      }),
      search: route([rule], { toolSearch: { above: 1 } }),
    },
    tools,
  );
});

beforeEach(() => {
  for (const each of [processor, second]) {
    each.asked.length = 0;
    each.reply = () => ({ pass: {} });
  }
});

async function connect(path: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/${path}`), {
    requestInit: { headers },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

const json = (value: object) => Buffer.from(JSON.stringify(value));
const of = (call: Question["call"], method: string) => (asked: Question) =>
  asked.call === call && asked.method === method;

it("a processor sees requests and results with metadata and headers", async () => {
  const client = await connect("plain", { "x-team": "blue" });
  await client.callTool({ name: "add", arguments: { a: 1 } });
  const [request] = processor.asked.filter(of("request", "tools/call"));
  expect(request).toMatchObject({
    servers: ["main"],
    content: { name: "add", arguments: { a: 1 } },
    metadata: {
      fields: {
        path: { stringValue: "/plain" },
        tool: { stringValue: "add" },
        server: { stringValue: "main" },
        amount: { numberValue: 1 },
        method: { stringValue: "tools/call" },
      },
    },
    headers: { "x-team": ["blue"], ":method": ["POST"], ":path": ["/plain"] },
  });
  const [response] = processor.asked.filter(of("response", "tools/call"));
  expect(response?.content).toEqual({ content: [{ type: "text", text: "add" }] });
  expect(processor.asked.map(({ method }) => method)).toContain("initialize");
  const [first] = processor.asked.filter(of("request", "initialize"));
  // Values of an item are omitted for messages without one.
  expect(Object.keys(Object(first?.metadata).fields)).toEqual(["path", "method"]);
});

it("only the headers that are configured are sent", async () => {
  const client = await connect("few", { "x-team": "blue", "x-other": "1" });
  await client.listTools();
  const [asked] = processor.asked.filter(of("request", "tools/list"));
  expect(asked?.headers).toEqual({ "x-team": ["blue"] });
});

it("requests and results are refused with errors of JSON-RPC", async () => {
  const client = await connect("plain");
  const code = (name: string) => client.callTool({ name, arguments: {} }).catch((error) => error);
  processor.reply = ({ call, method, content }) => {
    if (method !== "tools/call") return { pass: {} };
    const { name } = content as { name?: string };
    if (call === "request" && name === "add")
      return {
        error: { code: "PERMISSION_DENIED", reason: "no adding", mcp_error: json({ why: 1 }) },
      };
    if (call === "request" && name === "drop")
      return { error: { code: "RESOURCE_EXHAUSTED", reason: "later" } };
    return call === "response" ? { error: { code: "INVALID", reason: "secret" } } : { pass: {} };
  };
  expect(await code("add")).toMatchObject({
    code: -32001,
    message: expect.stringContaining("no adding"),
    data: { why: 1 },
  });
  expect(await code("drop")).toMatchObject({ code: -32003 });
  expect(await code("hello")).toMatchObject({
    code: -32600,
    message: expect.stringContaining("secret"),
  });
  await gateway.seen(/mcpGuardrails\.duration=\d+ms error="no adding" reason=MCP/);
});

it("arguments, lists and results are changed, in the order of processors", async () => {
  const client = await connect("chain");
  processor.reply = ({ call, content }) =>
    call === "request" && content !== undefined
      ? { mutated: json({ ...(content as object), name: "hello" }) }
      : { pass: {} };
  second.reply = ({ call, method, content }) => {
    if (call === "request") return { pass: {} };
    if (method === "tools/call")
      return { mutated: json({ content: [{ type: "text", text: "masked" }] }) };
    if (method !== "tools/list") return { pass: {} };
    const { tools } = content as { tools: readonly { name: string }[] };
    return { mutated: json({ tools: tools.filter(({ name }) => name !== "drop") }) };
  };
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["hello", "add"]);
  const { content } = await client.callTool({ name: "drop", arguments: {} });
  expect(content).toEqual([{ type: "text", text: "masked" }]);
  expect(second.asked.filter(of("request", "tools/call"))).toMatchObject([
    { content: { name: "hello" } },
  ]);
});

it("calls of merged servers have the names that their servers know", async () => {
  const client = await connect("merged");
  processor.reply = ({ call, method, content }) =>
    call === "request" && method === "tools/call"
      ? { mutated: json({ ...(content as object), name: "two", arguments: { changed: true } }) }
      : { pass: {} };
  const { content } = await client.callTool({ name: "a_one", arguments: {} });
  expect(JSON.stringify(content)).toContain('\\"name\\":\\"two\\"');
  expect(processor.asked.filter(of("request", "tools/call"))).toMatchObject([
    { servers: ["a"], content: { name: "one" } },
  ]);
  expect(processor.asked.find(of("response", "tools/list"))?.servers ?? ["a", "b"]).toEqual([
    ...["a", "b"],
  ]);
});

it("changes of headers reach the server, and a value that cannot be sent removes the client's", async () => {
  const client = await connect("echo", { "x-a": "client", "x-b": "client", "x-c": "client" });
  processor.reply = ({ call }) =>
    call === "response"
      ? { pass: {} }
      : {
          pass: {},
          header_mutation: {
            set: [
              { key: "x-a", value: Buffer.from("gateway") },
              { key: "x-b", value: Buffer.from("a\r\nx-evil: 1") },
              { key: "host", value: Buffer.from("evil.test") },
            ],
            remove: ["X-C"],
          },
        };
  await client.callTool({ name: "one", arguments: {} });
  const call = received.findLast(({ text }) => text.includes("tools/call"));
  expect(call?.headers).toMatchObject({ "x-a": "gateway" });
  expect(JSON.stringify(call?.headers)).not.toMatch(/x-b|x-c|evil/);
});

it("stateless clients are treated alike, and a changed name is that of the header", async () => {
  const client = await connectStateless(`${gateway.url}/chain`);
  processor.reply = ({ call, content }) =>
    call === "request" && content !== undefined
      ? { mutated: json({ ...(content as object), name: "hello" }) }
      : { pass: {} };
  const { content } = await client.callTool({ name: "drop", arguments: {} });
  expect(content).toEqual([{ type: "text", text: "hello" }]);
  processor.reply = () => ({ error: { code: "PERMISSION_DENIED", reason: "no" } });
  expect((await ask(`${gateway.url}/chain`, "tools/call", { name: "add" })).text).toContain(
    "-32001",
  );
});

it("a processor that fails refuses messages, or lets them pass where that is configured", async () => {
  processor.reply = () => undefined;
  await expect(connect("plain")).rejects.toThrow(/could not be checked/);
  const client = await connect("open");
  expect((await client.callTool({ name: "add", arguments: {} })).isError).toBeUndefined();
  for (const reply of [{ mutated: Buffer.from("{") }, { mutated: Buffer.from("[1]") }, {}]) {
    processor.reply = () => reply;
    await expect(connect("plain")).rejects.toThrow(/could not be checked/);
  }
});

it("a call through the tool search is judged as the call of the tool", async () => {
  const client = await connect("search");
  const { tools } = await client.listTools();
  const caller = tools.map(({ name }) => name).find((name) => name.startsWith("call"));
  processor.reply = ({ content }) =>
    (content as { name?: string })?.name === "drop"
      ? { error: { code: "PERMISSION_DENIED", reason: "no" } }
      : { pass: {} };
  const call = (name: string) =>
    client.callTool({ name: String(caller), arguments: { name, arguments: {} } });
  await expect(call("drop")).rejects.toThrow("no");
  expect((await call("hello")).content).toEqual([{ type: "text", text: "hello" }]);
});

it("a result on a stream without its request is not forwarded", async () => {
  const url = `${gateway.url}/echo`;
  const session = await openSession(url);
  const headers = { ...session, accept: "text/event-stream" };
  const { text } = await send(url, { method: "GET", headers, leaveAfter: 20 });
  expect(text).toContain("The result cannot be checked");
  expect(text).not.toContain('result":');
});

it("a response that is not one message is not forwarded", async () => {
  const url = `${gateway.url}/echo`;
  const session = await openSession(url);
  const { text } = await post(url, toolCall("batch"), session);
  expect(text).toContain("error");
  expect(text).not.toContain('"result"');
});

it("patterns of methods that match nothing, and routes without MCP, are mistakes", () => {
  const mcp = { mcp: { targets: [{ name: "main", mcp: { host: "http://127.0.0.1:1/mcp" } }] } };
  const of = (methods: object) => ({
    mcpGuardrails: { processors: [{ host: "127.0.0.1:9", methods }] },
  });
  expect(findings({ policies: of({ "a*b": "full" }), backends: [mcp] })).toEqual(["bad-format"]);
  expect(findings({ policies: of({ "tools/*": "full" }), backends: [mcp] })).toEqual([]);
  expect(findings({ policies: of({ "*": "full" }) })).not.toEqual([]);
});
