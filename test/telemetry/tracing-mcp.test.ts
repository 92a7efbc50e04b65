import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { type CollectedSpan, startCollector, tracedAll } from "../harness/otlp-collector.ts";
import { openSession, post } from "../mcp/raw-client.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;

/** A stdio server that returns the `_meta` of a call. */
const SERVER = `
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const info = { name: "meta", version: "1" };
  const result = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: info },
    "tools/list": { tools: [{ name: "meta", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: JSON.stringify(params?._meta) }] },
  }[method];
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
}
`;

it("MCP calls are spans below the request, named by method and tool, over HTTP and stdio", async () => {
  const collector = await startCollector();
  const server = await startMcpServer();
  const targets = [
    { name: "web", mcp: { host: server.url } },
    { name: "local", stdio: { cmd: "node", args: ["--input-type=module", "-e", SERVER] } },
  ];
  const gateway = await startGateway({
    file: { frontendPolicies: { tracing: { host: collector.host, protocol: "http" } } },
    listeners: [{ routes: [{ name: "tools", backends: [{ mcp: { targets } }] }] }],
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(gateway.url), {
      requestInit: { headers: { traceparent: PARENT, baggage: "team=red" } },
    }),
  );
  await client.callTool({ name: "web_hello" });
  const said = await client.callTool({
    name: "local_meta",
    _meta: { traceparent: PARENT, own: { kept: true } },
  });
  await client.close();
  expect(await gateway.stop()).toBe(0);

  const { spans } = collector;
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  const web = named(spans, "tools/call hello");
  expect(web.attributes).toMatchObject({
    "mcp.method.name": "tools/call",
    "mcp.target": "web",
    "gen_ai.tool.name": "hello",
    "network.transport": "tcp",
    "http.response.status_code": 200,
  });
  expect(parentOf(web, spans).attributes).toMatchObject({
    "http.route": "/*",
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "hello",
  });
  const local = named(spans, "tools/call meta");
  expect(local.attributes).toMatchObject({ "mcp.target": "local", "network.transport": "pipe" });
  expect(parentOf(local, spans).kind).toBe("SPAN_KIND_SERVER");
  const [content] = Array.isArray(said.content) ? said.content : [];
  expect(JSON.parse(content.text)).toEqual({
    traceparent: `00-${TRACE}-${local.spanId}-01`,
    baggage: "team=red",
    own: { kept: true },
  });
});

it("a failed tool is an error of the spans of its call and request, over HTTP and stdio", async () => {
  const collector = await startCollector();
  const url = await startFailingServer();
  const local = `
    import { createInterface } from "node:readline";
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, method } = JSON.parse(line);
      const result = {
        initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
        "tools/call": { isError: true, content: [] },
      }[method];
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
  `;
  const targets = [
    { name: "web", mcp: { host: url } },
    { name: "local", stdio: { cmd: "node", args: ["--input-type=module", "-e", local] } },
  ];
  const gateway = await startGateway({
    file: tracedAll(collector),
    listeners: [
      {
        routes: [
          {
            name: "one",
            matches: [{ path: { pathPrefix: "/one" } }],
            backends: [{ mcp: { targets: targets.slice(0, 1) } }],
          },
          { name: "both", backends: [{ mcp: { targets } }] },
        ],
      },
    ],
  });
  for (const [path, names] of [
    ["/one", ["breaks", "missing"]],
    ["/", ["web_breaks", "local_breaks"]],
  ] as const) {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}${path}`)));
    for (const name of names) {
      if (name === "missing") await client.readResource({ uri: "memo://no" }).catch(() => {});
      else expect(await client.callTool({ name })).toMatchObject({ isError: true });
    }
    await client.close();
  }
  expect(await gateway.stop()).toBe(0);
  const failed = collector.spans.filter(
    ({ attributes }) =>
      attributes["error.type"] !== undefined && attributes["mcp.method.name"] !== undefined,
  );
  const said = failed.map(({ kind, name, error, attributes }) => [
    kind.slice("SPAN_KIND_".length),
    name,
    error,
    attributes["error.type"],
    attributes["jsonrpc.request.id"] ?? "",
  ]);
  expect(said).toEqual([
    ["CLIENT", "tools/call breaks", "tool_error", "tool_error", "1"],
    ["SERVER", "POST /one/*", "tool_error", "tool_error", ""],
    ["CLIENT", "resources/read", "-32602", "-32602", "2"],
    ["SERVER", "POST /one/*", "-32602", "-32602", ""],
    ["CLIENT", "tools/call breaks", "tool_error", "tool_error", "1"],
    ["SERVER", "POST /*", "tool_error", "tool_error", ""],
    ["CLIENT", "tools/call breaks", "tool_error", "tool_error", "2"],
    ["SERVER", "POST /*", "tool_error", "tool_error", ""],
  ]);
});

const OTHER = "4bf92f3577b34da6a3ce929d0e0e4736";

const api = `
openapi: 3.0.0
info: { title: shop, version: "1" }
paths:
  /items:
    get: { operationId: items, responses: { "200": { description: ok } } }
`;

it.each([
  ["traced", true],
  ["not traced", false],
])(
  "an HTTP API and an SSE server get the context of each call, not that of the first one (%s)",
  async (_what, isTraced) => {
    const collector = await startCollector();
    const seen: IncomingHttpHeaders[] = [];
    const http = createServer((request, response) => {
      seen.push(request.headers);
      response.setHeader("content-type", "application/json").end("{}");
    });
    const legacy: { headers: IncomingHttpHeaders; body: string }[] = [];
    const sse = await startLegacy((headers, body) => legacy.push({ headers, body }));
    const targets = [
      {
        name: "api",
        openapi: { schema: { file: "api.yaml" }, host: `127.0.0.1:${await listen(http)}` },
      },
      { name: "old", sse: { host: sse } },
    ];
    const tracing = { host: collector.host, protocol: "http" };
    const gateway = await startGateway({
      file: isTraced ? { frontendPolicies: { tracing } } : {},
      files: { "api.yaml": api },
      listeners: [{ routes: [{ name: "tools", backends: [{ mcp: { targets } }] }] }],
    });
    const session = await openSession(gateway.url, { traceparent: PARENT, tracestate: "first=1" });
    const sent = `00-${OTHER}-b7ad6b7169203331-01`;
    const call = (name: string) =>
      post(
        gateway.url,
        { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } },
        { ...session, traceparent: sent, tracestate: "later=1" },
      );
    expect((await call("api_items")).text).toContain('"isError":false');
    await call("old_any");
    expect(await gateway.stop()).toBe(0);
    const contextOf = (name: string) => {
      const span = collector.spans.find((each) => each.name === name);
      return isTraced ? `00-${OTHER}-${span?.spanId}-01` : sent;
    };
    const [asked] = seen;
    expect(asked).toMatchObject({
      traceparent: contextOf("tools/call items"),
      tracestate: "later=1",
    });
    const last = legacy.at(-1);
    expect(JSON.parse(last?.body ?? "{}").params._meta).toEqual({
      traceparent: contextOf("tools/call any"),
      tracestate: "later=1",
    });
    for (const { headers } of legacy) expect(headers.traceparent).toBeUndefined();
  },
);

it("the id of a message is recorded in its span, without JSON quotes", async () => {
  const collector = await startCollector();
  const { url } = await startMcpServer();
  const targets = [{ name: "web", mcp: { host: url } }];
  const gateway = await startGateway({
    file: tracedAll(collector),
    listeners: [{ routes: [{ name: "tools", backends: [{ mcp: { targets } }] }] }],
  });
  const ask = (id: unknown) =>
    fetch(gateway.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }),
    }).then((response) => response.text());
  for (const id of ['call "7"', 7]) await ask(id);
  expect(await gateway.stop()).toBe(0);
  const ids = collector.spans.flatMap(({ attributes }) => attributes["jsonrpc.request.id"] ?? []);
  expect(ids).toEqual(['call "7"', "7"]);
});

/** Starts a streamable HTTP server with a failing tool. */
async function startFailingServer(): Promise<string> {
  const http = createServer(async (request, response) => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    server.registerTool("breaks", {}, () => ({ isError: true, content: [] }));
    server.registerResource("notes", "memo://notes", {}, () => ({ contents: [] }));
    const transport = new StreamableHTTPServerTransport({});
    response.on("close", () => void server.close());
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response);
  });
  return `http://127.0.0.1:${await listen(http)}/mcp`;
}

/** Starts a server of revision 2024-11-05 that reports each message that it gets. */
async function startLegacy(
  tell: (headers: IncomingHttpHeaders, body: string) => void,
): Promise<string> {
  let stream: ServerResponse | undefined;
  const http = createServer(async (request, response) => {
    if (request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      stream.write("event: endpoint\ndata: /messages\n\n");
      return;
    }
    const body = await text(request);
    tell(request.headers, body);
    response.writeHead(202).end();
    const { id } = JSON.parse(body);
    const result = { protocolVersion: "2024-11-05", capabilities: { tools: {} }, content: [] };
    const message = JSON.stringify({ jsonrpc: "2.0", id, result });
    if (id !== undefined) stream?.write(`event: message\ndata: ${message}\n\n`);
  });
  return `http://127.0.0.1:${await listen(http)}/sse`;
}

function named(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.find((span) => span.name === name);
  if (found === undefined)
    throw new Error(`${name} is not among ${spans.map((span) => span.name)}`);
  return found;
}

function parentOf({ parentSpanId }: CollectedSpan, spans: readonly CollectedSpan[]): CollectedSpan {
  const found = spans.find(({ spanId }) => spanId === parentSpanId);
  if (found === undefined) throw new Error(`${parentSpanId} is no span`);
  return found;
}
