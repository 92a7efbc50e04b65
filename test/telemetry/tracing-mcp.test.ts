import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { type CollectedSpan, startCollector } from "../harness/otlp-collector.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;

/** A server over stdio that says what `_meta` a call had. */
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

it("MCP calls are spans below the request, named after method and tool, over HTTP and stdio", async () => {
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

function named(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`${name} is none of ${spans.map((span) => span.name)}`);
  return found;
}

function parentOf({ parentSpanId }: CollectedSpan, spans: readonly CollectedSpan[]): CollectedSpan {
  const found = spans.find(({ spanId }) => spanId === parentSpanId);
  if (found === undefined) throw new Error(`${parentSpanId} is no span`);
  return found;
}
