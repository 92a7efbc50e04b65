import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import type { Gateway } from "../harness/gateway.ts";
import { serverScripts, startBothServers } from "./both-servers.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { initialize, messagesOf, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";
import { connectStateless } from "./stateless-client.ts";

const { sessions: old, stateless } = serverScripts;
let gateway: Gateway;
let raw: RawUpstream;
const url = (route: string) => gateway.url.replace("/mcp", `/${route}`);

beforeAll(async () => {
  const { sessions: port, stateless: newPort } = await startBothServers();
  raw = await startUpstream(() => {});
  const http = { name: "http", mcp: { host: `http://127.0.0.1:${port}/mcp` } };
  const stdio = { name: "stdio", stdio: { cmd: process.execPath, args: [old, "stdio"] } };
  const fresh = { name: "new", mcp: { host: `http://127.0.0.1:${newPort}/mcp` } };
  const child = {
    name: "child",
    era: "stateless" as const,
    stdio: { cmd: process.execPath, args: [stateless, "stdio"] },
  };
  const scripted = { name: "raw", mcp: { host: raw.url } };
  const routes = {
    http: [http],
    stdio: [stdio],
    new: [fresh],
    child: [child],
    all: [http, stdio, fresh],
    raw: [scripted],
    rawTwice: [scripted, { ...scripted, name: "again" }],
  };
  gateway = await startMcpGateway(
    Object.entries(routes).map(([name, targets]) => ({
      name,
      path: `/${name}`,
      targets,
      statefulMode: "stateless",
    })),
  );
});

describe.each([
  ["http", "", ""],
  ["stdio", "", ""],
  ["new", "", ""],
  ["child", "", ""],
  ["all", "http_", "http+"],
  ["all", "stdio_", "stdio+"],
  ["all", "new_", "new+"],
])(
  "a client with sessions behind /%s, where none are stored, with %j",
  (route, prefix, uriPrefix) => {
    it("can use tools, prompts, resources and completions", async () => {
      const client = await connectSession(url(route));
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain(`${prefix}test_simple_text`);
      const called = await client.callTool({ name: `${prefix}test_simple_text` });
      expect(JSON.stringify(called)).toContain("simple text response");
      const prompt = await client.getPrompt({ name: `${prefix}test_simple_prompt` });
      expect(prompt.messages.length).toBe(1);
      const uri = `${uriPrefix}test://static-text`;
      expect((await client.readResource({ uri })).contents[0]).toMatchObject({ uri });
      expect(await client.ping()).toEqual({});
      await client.close();
    });

    it("gets progress of its calls", async () => {
      const client = await connectSession(url(route));
      const steps: number[] = [];
      const params = { name: `${prefix}test_tool_with_progress` };
      await client.callTool(params, undefined, {
        onprogress: ({ progress }) => steps.push(progress),
      });
      expect(steps).toEqual([0, 50, 100]);
      await client.close();
    });
  },
);

it("gets no requests of servers, and leaves no child", async () => {
  const client = await connectSession(url("all"));
  for (const server of ["http", "stdio"]) {
    const asked = client.callTool({ name: `${server}_test_sampling`, arguments: { prompt: "p" } });
    await expect(asked).rejects.toThrow("The client cannot answer this request now");
  }
  await client.close();
  const stats = await gateway.statsPort();
  const running = async (target: string) =>
    (await expositionOf(stats)).value(`gwc_mcp_stdio_processes{target="${target}"}`) ?? 0;
  await expect.poll(() => running("stdio")).toBe(0);
  // A child without sessions serves all requests of a caller.
  expect(await running("child")).toBe(1);
});

describe("each request", () => {
  const seen = () =>
    raw.seen.map(({ method, text, headers }) => [
      method === "POST" ? JSON.parse(text).method : method,
      headers["mcp-session-id"],
    ]);

  beforeEach(() => {
    raw.seen.length = 0;
    raw.response = mcpResponses({
      "tools/list": '{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}',
      "tools/call": '{"content":[]}',
      initialize: JSON.stringify({
        protocolVersion: "2025-06-18",
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true },
          logging: {},
          tasks: {},
        },
        serverInfo: { name: "x", version: "7" },
      }),
    });
  });

  it("for opening a session gets none, and no features that need one", async () => {
    const response = await post(url("raw"), initialize);
    expect(response.headers["mcp-session-id"]).toBeUndefined();
    expect(messagesOf(response)).toMatchObject([
      {
        id: 0,
        result: {
          capabilities: { tools: {}, resources: {} },
          serverInfo: { name: "x", version: "7" },
        },
      },
    ]);
    await expect.poll(seen).toEqual([
      ["initialize", undefined],
      ["DELETE", "upstream-1"],
    ]);
    const merged = messagesOf(await post(url("rawTwice"), initialize));
    expect(merged).toMatchObject([{ result: { capabilities: { tools: {}, resources: {} } } }]);
    await expect.poll(() => seen().filter(([method]) => method === "DELETE").length).toBe(3);
  });

  it("opens a session in the client's revision and ends it", async () => {
    const headers = { "mcp-protocol-version": "2025-06-18", "mcp-session-id": "of-a-replica" };
    const response = await post(url("raw"), toolCall("a", 7), headers);
    expect(response.status).toBe(200);
    expect(messagesOf(response)).toEqual([{ jsonrpc: "2.0", id: 7, result: { content: [] } }]);
    await expect.poll(seen).toEqual([
      ["initialize", undefined],
      ["notifications/initialized", "upstream-1"],
      ["tools/call", "upstream-1"],
      ["DELETE", "upstream-1"],
    ]);
    const [opening] = raw.seen;
    expect(JSON.parse(opening?.text ?? "").params).toEqual({
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "gwc", version: "1" },
    });
  });

  it("of a client without sessions ends what it opened, too", async () => {
    const client = await connectStateless(url("raw"));
    await expect.poll(seen).toContainEqual(["DELETE", "upstream-1"]);
    raw.seen.length = 0;
    expect((await client.listTools()).tools.length).toBe(1);
    await client.close();
    const methods = () => seen().map(([method]) => method);
    await expect
      .poll(methods)
      .toEqual(["initialize", "notifications/initialized", "tools/list", "DELETE"]);
  });

  it("about a session is refused", async () => {
    for (const method of ["GET", "DELETE"]) {
      const response = await send(url("raw"), { method, headers: { "mcp-session-id": "x" } });
      expect([response.status, response.headers.allow]).toEqual([405, "POST"]);
    }
    for (const method of ["logging/setLevel", "resources/subscribe", "tasks/get"]) {
      const request = { jsonrpc: "2.0", id: 1, method, params: { level: "info", uri: "x://a" } };
      expect(messagesOf(await post(url("raw"), request))).toMatchObject([
        { id: 1, error: { code: -32601 } },
      ]);
    }
    const told = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    expect((await post(url("raw"), told)).status).toBe(202);
    expect(raw.seen).toEqual([]);
  });

  it("of a client that disconnects is cancelled, and its session ends", async () => {
    const answering = mcpResponses({});
    raw.response = (response, request, message) => {
      if (message.method === "tools/call")
        response
          .writeHead(200, { "content-type": "text/event-stream" })
          .write(
            'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n',
          );
      else answering(response, request, message);
    };
    await send(url("raw"), {
      headers: {},
      body: JSON.stringify(toolCall("a", 7)),
      leaveAfter: 1,
    });
    await expect.poll(seen).toContainEqual(["DELETE", "upstream-1"]);
    // Sent over another connection.
    await expect.poll(seen).toContainEqual(["notifications/cancelled", "upstream-1"]);
  });
});
