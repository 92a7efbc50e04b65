import { expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Access lines of a gateway with these fields. */
async function linesOf(
  backend: object,
  add: Record<string, string>,
  run: (gateway: Gateway) => Promise<void>,
): Promise<readonly Record<string, unknown>[]> {
  const gateway = await startGateway({
    file: { config: { logging: { format: "json", fields: { add } } } },
    listeners: [{ routes: [{ backends: [backend] }] }],
  });
  await run(gateway);
  await gateway.stop();
  const lines = gateway.output.split("\n").filter((line) => line.includes('"scope":"request"'));
  return lines.map((line) => JSON.parse(line));
}

it("a line shows the session, arguments, result and error of a tool call", async () => {
  const server = await startMcpServer();
  const targets = ["a", "b"].map((name) => ({ name, mcp: { host: `${server.url}/mcp` } }));
  const fields = {
    session: "mcp.sessionId",
    args: "mcp.tool.arguments",
    word: "mcp.tool.arguments.word",
    result: "mcp.tool.result",
    error: "mcp.tool.error",
  };
  const lines = await linesOf({ mcp: { targets } }, fields, async (gateway) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const post = async (session: Record<string, string>, body: object) =>
      send(gateway.url, "POST", { ...headers, ...session }, JSON.stringify(body));
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const opened = await post({}, { jsonrpc: "2.0", id: 1, method: "initialize", params });
    const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
    await post(session, { jsonrpc: "2.0", method: "notifications/initialized" });
    for (const name of ["a_hello", "unknown"]) {
      const call = { name, arguments: { word: "x" } };
      await post(session, { jsonrpc: "2.0", id: name, method: "tools/call", params: call });
    }
  });
  const calls = lines.filter((line) => line["mcp.method.name"] === "tools/call");
  const session = lines.find((line) => line["mcp.method.name"] === "initialize")?.session;
  expect(session).toEqual(expect.any(String));
  expect(calls[0]).toMatchObject({
    session,
    args: { word: "x" },
    word: "x",
    result: { content: [{ type: "text", text: "hello" }] },
  });
  expect(calls[0]).not.toHaveProperty("error");
  expect(calls[1]).toMatchObject({ args: { word: "x" }, error: { code: expect.any(Number) } });
  expect(calls[1]).not.toHaveProperty("result");
});

const CALL = { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } };

/** A provider of Chat Completions that calls a tool. */
async function callingProvider(): Promise<object> {
  const url = await startUpstream((request, response) => {
    let asked = "";
    request.on("data", (piece) => {
      asked += piece;
    });
    request.on("end", () => {
      const choice = (delta: object, finish: string | null) =>
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", service_tier: "flex", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      if (asked.includes('"stream":true')) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const first = { ...CALL, index: 0, function: { name: "add", arguments: '{"a"' } };
        const next = { index: 0, function: { arguments: ":1}" } };
        response.write(choice({ role: "assistant", tool_calls: [first] }, null));
        response.write(choice({ tool_calls: [next] }, null));
        response.end(`${choice({}, "tool_calls")}data: [DONE]\n\n`);
        return;
      }
      response.writeHead(200, { "content-type": "application/json" });
      const message = { role: "assistant", content: null, tool_calls: [CALL] };
      const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
      response.end(
        JSON.stringify({
          id: "c",
          object: "chat.completion",
          model: "m",
          service_tier: "flex",
          choices,
        }),
      );
    });
  });
  const routes = {
    "/v1/chat/completions": "completions",
    "/v1/messages": "messages",
    "/v1/responses": "responses",
  };
  const ai = { name: "m", provider: { openAI: {} }, hostOverride: new URL(url).host };
  return { ai, policies: { ai: { routes } } };
}

const TOOL = { type: "object", properties: { a: { type: "number" } } };
const REQUESTS = {
  "/v1/chat/completions": {
    messages: [{ role: "user", content: "hi" }],
    tools: [{ type: "function", function: { name: "add", parameters: TOOL } }],
  },
  "/v1/messages": {
    max_tokens: 9,
    messages: [{ role: "user", content: "hi" }],
    tools: [{ name: "add", input_schema: TOOL }],
  },
  "/v1/responses": { input: "hi", tools: [{ type: "function", name: "add", parameters: TOOL }] },
};

it.each(
  Object.entries(REQUESTS).flatMap(([path, body]) =>
    [false, true].map((stream) => [path, stream, body] as const),
  ),
)("a line shows the tools that a model calls: %s, stream %s", async (path, stream, body) => {
  const fields = { calls: "llm.toolCalls", names: "llm.toolCalls.map(each, each.name)" };
  const [line] = await linesOf(await callingProvider(), fields, async (gateway) => {
    const request = { model: "gpt-4o", stream, ...body };
    const headers = { "content-type": "application/json" };
    const { status } = await send(
      `${gateway.url}${path}`,
      "POST",
      headers,
      JSON.stringify(request),
    );
    expect(status).toBe(200);
  });
  expect(line).toMatchObject({
    calls: [{ id: "c1", name: "add", arguments: { a: 1 } }],
    names: ["add"],
  });
});

it("a line shows the service tier of a response", async () => {
  const [line] = await linesOf(
    await callingProvider(),
    { tier: "llm.serviceTier" },
    async (gateway) => {
      const body = { model: "gpt-4o", messages: [{ role: "user", content: "hi" }] };
      const headers = { "content-type": "application/json" };
      await send(`${gateway.url}/v1/chat/completions`, "POST", headers, JSON.stringify(body));
    },
  );
  expect(line).toMatchObject({ tier: "flex" });
});
