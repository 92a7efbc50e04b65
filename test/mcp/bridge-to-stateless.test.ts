import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { ownScript } from "../harness/own-script.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { initialize, messagesOf, openSession, post, toolCall } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";

const script = ownScript("conformance/stateless-server.ts");
let gateway: Gateway;
let replica: Gateway;
let raw: RawUpstream;
const url = (route: string, of = gateway) => of.url.replace("/mcp", `/${route}`);

beforeAll(async () => {
  const server = new TestProcess(process.execPath, [script, "http", "reject"]);
  const [, port] = await server.seen(/port (\d+)/);
  raw = await startUpstream(() => {});
  const http = { name: "http", mcp: { host: `http://127.0.0.1:${port}/mcp` } };
  const args = [script, "stdio", "reject"];
  const stdio = { name: "stdio", stdio: { cmd: process.execPath, args } };
  const old = ownScript("conformance/mcp-server.ts");
  const sessions = { name: "old", stdio: { cmd: process.execPath, args: [old, "stdio"] } };
  const routes = [
    { name: "http", path: "/http", targets: [http] },
    { name: "stdio", path: "/stdio", targets: [stdio] },
    { name: "mixed", path: "/mixed", targets: [http, sessions] },
    {
      name: "ruled",
      path: "/ruled",
      targets: [http],
      rules: ['mcp.tool.name == "test_simple_text"'],
    },
    { name: "raw", path: "/raw", targets: [{ name: "raw", mcp: { host: raw.url } }] },
  ];
  const env = { SESSION_KEY: "ab".repeat(32) };
  [gateway, replica] = await Promise.all([
    startMcpGateway(routes, env),
    startMcpGateway(routes, env),
  ]);
});

// A server without sessions: alone over HTTP and stdio, and merged with one with sessions.
describe.each([
  ["http", "", ""],
  ["stdio", "", ""],
  ["mixed", "http_", "http+"],
])("a client with sessions at a server without, behind /%s,", (route, prefix, uriPrefix) => {
  let client: Client;
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    JSON.stringify(await client.callTool({ name: prefix + name, arguments: args }));

  beforeEach(async () => {
    client = await connectSession(url(route));
  });
  afterEach(() => client.close());

  it("can use tools, prompts and resources", async () => {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain(`${prefix}test_simple_text`);
    expect(await call("test_simple_text")).toContain("simple text response");
    const prompt = await client.getPrompt({ name: `${prefix}test_simple_prompt` });
    expect(prompt.messages.length).toBe(1);
    const uri = `${uriPrefix}test://static-text`;
    expect((await client.readResource({ uri })).contents[0]).toMatchObject({ uri });
    await client.ping();
  });

  it("responds to several requests for the user, the model and roots in one call", async () => {
    expect(await call("test_input_required_result_elicitation")).toContain("Hello, my name!");
    expect(await call("test_input_required_result_sampling")).toContain("sampled");
    expect(await call("test_input_required_result_list_roots")).toContain("file:///r");
    expect(await call("test_input_required_result_multiple_inputs")).toContain("my name");
    expect(await call("test_input_required_result_multi_round")).toContain("complete");
    expect(await call("test_input_required_result_request_state")).toContain("state-ok");
    const prompt = await client.getPrompt({ name: `${prefix}test_input_required_result_prompt` });
    expect(JSON.stringify(prompt)).toContain("my context");
  });

  it("gets progress and the log messages of its level", async () => {
    const progress: number[] = [];
    const logged: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      logged.push(params.data);
    });
    await call("test_logging_tool");
    expect(logged).toEqual([]);
    await client.setLoggingLevel("debug");
    await call("test_logging_tool");
    expect(logged).toEqual(["logged"]);
    const params = { name: `${prefix}test_tool_with_progress` };
    await client.callTool(params, undefined, {
      onprogress: (step) => progress.push(step.progress),
    });
    expect(progress).toEqual([0, 50, 100]);
  });

  it("gets list changes on its own stream", async () => {
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes++;
    });
    await expect
      .poll(async () => {
        await call("test_trigger_tool_change");
        return changes;
      })
      .toBeGreaterThan(0);
  });

  it("gets an error that names the capability it lacks", async () => {
    const plain = await connectSession(url(route), {});
    const result = await plain.callTool({ name: `${prefix}test_missing_capability` });
    expect([result.isError, JSON.stringify(result)]).toEqual([
      true,
      expect.stringContaining("sampling"),
    ]);
    await plain.close();
  });
});

it("sees only what the rules allow", async () => {
  const client = await connectSession(url("ruled"));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["test_simple_text"]);
  const call = client.callTool({ name: "test_error_handling" });
  await expect(call).rejects.toThrow("Unknown tool: test_error_handling");
  await client.close();
});

it("can continue its session at any replica", async () => {
  const session = await openSession(url("http"));
  const response = await post(url("http", replica), toolCall("test_simple_text"), session);
  expect(JSON.stringify(messagesOf(response))).toContain("simple text response");
  const answer = { jsonrpc: "2.0", id: "nobody-asked", result: { action: "accept" } };
  expect((await post(url("http", replica), answer, session)).status).toBe(202);
});

describe("a scripted server without sessions", () => {
  const input = {
    resultType: "input_required",
    inputRequests: { k: { method: "elicitation/create", params: { message: "m" } } },
    requestState: "s",
  };
  let results: Readonly<Record<string, object>> = {};

  beforeEach(() => {
    raw.seen.length = 0;
    raw.response = (response, _, { id, method }) => {
      const name = String(method);
      const isOld = name === "initialize";
      const error = { code: -32022, message: "x", data: { supported: ["2026-07-28"] } };
      const discover = { capabilities: { tools: {}, resources: { subscribe: true } } };
      const result =
        name === "server/discover" ? discover : (results[name] ?? { resultType: "complete" });
      const body = { jsonrpc: "2.0", id, ...(isOld ? { error } : { result }) };
      response.writeHead(isOld ? 400 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
  });

  const sent = () =>
    raw.seen.flatMap(({ text, headers }) =>
      text === "" ? [] : [{ ...JSON.parse(text), headers }],
    );

  it("gets the whole envelope and no session", async () => {
    const session = await openSession(url("raw"));
    await post(url("raw"), toolCall("größe"), session);
    const call = sent().find(({ method }) => method === "tools/call");
    expect(call).toMatchObject({
      params: {
        name: "größe",
        arguments: {},
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": initialize.params.capabilities,
          "io.modelcontextprotocol/clientInfo": initialize.params.clientInfo,
        },
      },
      headers: {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": `=?base64?${Buffer.from("größe").toString("base64")}?=`,
      },
    });
    expect(call.headers).not.toHaveProperty("mcp-session-id");
    expect(sent().map(({ method }) => method)).not.toContain("notifications/initialized");
  });

  it("a second client is called statelessly at once", async () => {
    await openSession(url("raw"));
    raw.seen.length = 0;
    await openSession(url("raw"));
    expect(sent().map(({ method }) => method)).toEqual(["server/discover"]);
  });

  it("is given up if it requests input without end", async () => {
    results = { "tools/call": { resultType: "input_required", requestState: "s" } };
    const session = await openSession(url("raw"));
    const response = await post(url("raw"), toolCall("t"), session);
    expect([response.status, response.text]).toEqual([
      502,
      expect.not.stringContaining("input_required"),
    ]);
    expect(sent().filter(({ method }) => method === "tools/call").length).toBe(9);
  });

  it("gets no further calls after the client has cancelled", async () => {
    results = { "tools/call": input };
    const session = await openSession(url("raw"));
    const call = post(url("raw"), toolCall("t", 5), session);
    await expect.poll(() => sent().some(({ method }) => method === "tools/call")).toBe(true);
    const cancelled = { method: "notifications/cancelled", params: { requestId: 5 } };
    await post(url("raw"), { jsonrpc: "2.0", ...cancelled }, session);
    expect(messagesOf(await call)).toMatchObject([{ method: "elicitation/create" }]);
  });

  it("gets arguments in headers, even before its tools were listed", async () => {
    const region = { type: "string", "x-mcp-header": "Region" };
    const count = { type: "integer", "x-mcp-header": "Count" };
    const properties = { region, more: { type: "object", properties: { count } } };
    const tool = { name: "t", inputSchema: { type: "object", properties } };
    results = { "tools/list": { tools: [tool] }, "tools/call": { content: [] } };
    const { response } = raw;
    raw.response = (out, request, message) => {
      const isCall = message.method === "tools/call";
      if (!isCall || request.headers["mcp-param-region"] !== undefined) {
        response(out, request, message);
        return;
      }
      const error = { code: -32020, message: "Mcp-Param-Region is missing" };
      out.writeHead(400, { "content-type": "application/json" });
      out.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }));
    };
    const session = await openSession(url("raw"));
    const params = { name: "t", arguments: { region: "größe", more: { count: 7 } } };
    const call = { jsonrpc: "2.0", id: 3, method: "tools/call", params };
    for (const calls of [2, 1]) {
      raw.seen.length = 0;
      const [called] = messagesOf(
        await post(url("raw"), call, { ...session, "mcp-param-count": "8" }),
      );
      expect(called).toMatchObject({ result: { content: [] } });
      const made = sent().filter(({ method }) => method === "tools/call");
      expect(made.length).toBe(calls);
      expect(made.at(-1)?.headers).toMatchObject({
        "mcp-param-region": `=?base64?${Buffer.from("größe").toString("base64")}?=`,
        "mcp-param-count": "7",
      });
    }
  });

  it("has its output wrapped with its schema if it is not an object", async () => {
    const outputSchema = { type: "array", items: { $ref: "#/$defs/a" }, $defs: { a: {} } };
    results = {
      "tools/list": { tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema }] },
      "tools/call": { content: [], structuredContent: [1] },
    };
    const session = await openSession(url("raw"));
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const [listed] = messagesOf(await post(url("raw"), list, session));
    expect(listed).toMatchObject({
      result: {
        tools: [
          {
            outputSchema: {
              type: "object",
              properties: { result: { items: { $ref: "#/properties/result/$defs/a" } } },
            },
          },
        ],
      },
    });
    const [called] = messagesOf(await post(url("raw"), toolCall("t"), session));
    expect(called).toMatchObject({ result: { structuredContent: { result: [1] } } });
  });
});

it("gets a subscription once the client has a stream", async () => {
  const updated: string[] = [];
  const client = await connectSession(url("raw"));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    updated.push(params.uri);
  });
  raw.response = (response, { text }) => {
    const { id, params } = JSON.parse(text);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    for (const uri of params.notifications.resourceSubscriptions ?? []) {
      const update = { method: "notifications/resources/updated", params: { _meta, uri } };
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...update })}\n\n`);
    }
  };
  await client.subscribeResource({ uri: "x://a" });
  await expect.poll(() => updated).toEqual(["x://a"]);
  await client.close();
});
