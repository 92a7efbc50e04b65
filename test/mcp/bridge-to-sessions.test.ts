import type { ServerResponse } from "node:http";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import type { Gateway } from "../harness/gateway.ts";
import { serverScripts, startBothServers } from "./both-servers.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { answerServers, ask, connectStateless, envelope, revision } from "./stateless-client.ts";
import { as } from "./subjects.ts";

const old = serverScripts.sessions;
let gateway: Gateway;
let replica: Gateway;
let raw: RawUpstream;
const url = (route: string, of = gateway) => of.url.replace("/mcp", `/${route}`);

beforeAll(async () => {
  const { sessions: port, stateless: newPort } = await startBothServers();
  raw = await startUpstream(mcpResponses({ "tools/list": `{"tools":[]}` }));
  const http = { name: "http", mcp: { host: `http://127.0.0.1:${port}/mcp` } };
  const stdio = { name: "stdio", stdio: { cmd: process.execPath, args: [old, "stdio"] } };
  const fresh = { name: "new", mcp: { host: `http://127.0.0.1:${newPort}/mcp` } };
  const hasSubjects = true;
  const routes = [
    { name: "http", path: "/http", targets: [http], hasSubjects },
    { name: "stdio", path: "/stdio", targets: [stdio], hasSubjects },
    { name: "mixed", path: "/mixed", targets: [fresh, http], hasSubjects },
    { name: "raw", path: "/raw", targets: [{ name: "raw", mcp: { host: raw.url } }], hasSubjects },
    {
      name: "changing",
      path: "/changing",
      targets: [{ name: "raw", mcp: { host: raw.url } }],
      hasSubjects,
    },
    { name: "ruled", path: "/ruled", targets: [http], rules: ['mcp.tool.name == "test_sampling"'] },
  ];
  const env = { SESSION_KEY: "ab".repeat(32) };
  [gateway, replica] = await Promise.all([
    startMcpGateway(routes, env),
    startMcpGateway(routes, env),
  ]);
});

// A server with sessions: alone over HTTP and stdio, and beside one without.
describe.each([
  ["http", "", "", {}],
  ["http", "", "", as("ada")],
  ["stdio", "", "", as("ada")],
  ["mixed", "http_", "http+", {}],
])(
  "a client without sessions finds at a server with them, behind /%s,",
  (route, prefix, uriPrefix, headers) => {
    const connect = async () => {
      const capabilities = { elicitation: { form: {} }, sampling: {} };
      const client = await connectStateless(url(route), { capabilities }, headers);
      answerServers(client, { username: "ada", email: "a@x.test" });
      return client;
    };

    it("tools, prompts, resources and completions", async () => {
      const client = await connect();
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain(`${prefix}test_simple_text`);
      const called = await client.callTool({ name: `${prefix}test_simple_text` });
      expect(JSON.stringify(called)).toContain("simple text response");
      expect(
        (await client.getPrompt({ name: `${prefix}test_simple_prompt` })).messages.length,
      ).toBe(1);
      const uri = `${uriPrefix}test://static-text`;
      expect((await client.readResource({ uri })).contents[0]).toMatchObject({ uri });
      const ref = { type: "ref/prompt" as const, name: `${prefix}test_simple_prompt` };
      const { completion } = await client.complete({ ref, argument: { name: "city", value: "p" } });
      expect(completion.values).toEqual(["paris"]);
      await client.close();
    });

    it("servers that ask the model and the user", async () => {
      const client = await connect();
      const sampled = await client.callTool({
        name: `${prefix}test_sampling`,
        arguments: { prompt: "p" },
      });
      expect(JSON.stringify(sampled)).toContain("LLM response: sampled");
      const elicited = await client.callTool({
        name: `${prefix}test_elicitation`,
        arguments: { message: "m" },
      });
      expect(JSON.stringify(elicited)).toContain("a@x.test");
      await client.close();
    });

    it("progress, each time under its own token", async () => {
      const client = await connect();
      for (let round = 0; round < 2; round++) {
        const steps: number[] = [];
        const params = { name: `${prefix}test_tool_with_progress` };
        await client.callTool(params, { onprogress: ({ progress }) => steps.push(progress) });
        expect(steps).toEqual([0, 50, 100]);
      }
      await client.close();
    });

    it("methods of sessions no more", async () => {
      const response = await ask(url(route), "ping", {}, headers);
      expect([response.status, JSON.parse(response.text).error.code]).toEqual([404, -32601]);
    });
  },
);

it("rules hide from a client of the other era what they hide", async () => {
  const client = await connectStateless(url("ruled"));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["test_sampling"]);
  await expect(client.callTool({ name: "test_simple_text" })).rejects.toThrow("Unknown tool");
  await client.close();
});

describe("the state of a call that waits for its client", () => {
  const args = { message: "m" };
  const call = (params: object, subject = "ada", of = gateway) =>
    ask(
      url("http", of),
      "tools/call",
      { name: "test_elicitation", arguments: args, ...params },
      as(subject),
    );
  const resultOf = async (response: ReturnType<typeof call>) => {
    const message = messagesOf(await response).at(-1);
    return JSON.parse(JSON.stringify(message));
  };
  const asked = async () => (await resultOf(call({}))).result;
  const r1 = { action: "accept", content: { username: "ada", email: "a@x.test" } };
  const invalid = { error: { code: -32602 } };

  it("says what is asked, and goes on with the response, once", async () => {
    const { resultType, inputRequests, requestState } = await asked();
    expect([resultType, inputRequests]).toMatchObject([
      "input_required",
      { r1: { method: "elicitation/create" } },
    ]);
    const done = await resultOf(call({ requestState, inputResponses: { r1 } }));
    expect(JSON.stringify(done.result)).toContain("a@x.test");
    expect(await resultOf(call({ requestState, inputResponses: { r1 } }))).toMatchObject(invalid);
  });

  it("is asked for again when the response is missing or none", async () => {
    for (const inputResponses of [{}, { other: r1 }, { r1: 7 }, { r1: null }]) {
      const { requestState } = await asked();
      const again = (await resultOf(call({ requestState, inputResponses }))).result;
      expect(again).toMatchObject({ resultType: "input_required", inputRequests: { r1: {} } });
      expect(again.requestState).not.toBe(requestState);
      await resultOf(call({ requestState: again.requestState, inputResponses: { r1 } }));
    }
  });

  it.each([
    ["another subject's", (state: string) => call({ requestState: state }, "bob")],
    ["changed", (state: string) => call({ requestState: `${state}A` })],
    ["made up", () => call({ requestState: "x" })],
    ["for other arguments", (state: string) => call({ requestState: state, arguments: {} })],
  ])("is refused when it is %s, and stays its owner's", async (_, attempt) => {
    const { requestState } = await asked();
    expect(await resultOf(attempt(requestState))).toMatchObject(invalid);
    const done = await resultOf(call({ requestState, inputResponses: { r1 } }));
    expect(JSON.stringify(done.result)).toContain("a@x.test");
  });

  it("is of this process: another replica says so, and calls nothing again", async () => {
    const { requestState } = await asked();
    const elsewhere = await resultOf(
      call({ requestState, inputResponses: { r1 } }, "ada", replica),
    );
    expect(elsewhere).toMatchObject({ error: { code: -32602 } });
    expect(elsewhere.error.message).toContain("call again");
  });
});

it("a client that says too much of itself is told so, and no session is opened for it", async () => {
  raw.seen.length = 0;
  const clientInfo = { name: "x".repeat(70_000), version: "1" };
  const _meta = { ...envelope, "io.modelcontextprotocol/clientInfo": clientInfo };
  const refused = await ask(url("raw"), "tools/list", { _meta });
  expect(JSON.parse(refused.text).error).toEqual({
    code: -32602,
    message: "Invalid params: _meta says more of the client than 65536 characters",
  });
  expect(raw.seen.filter(({ text }) => text.includes('"initialize"'))).toEqual([]);
});

it("the log and the metrics say what either side speaks, and what waits", async () => {
  const headers = as("grace");
  await (await connectStateless(url("mixed"), {}, headers)).close();
  const params = { name: "http_test_elicitation", arguments: { message: "m" } };
  const response = await ask(url("mixed"), "tools/call", params, headers);
  const value = async (sample: string) =>
    (await expositionOf(await gateway.statsPort())).value(sample) ?? 0;
  for (const target of ["both", "sessions"]) {
    const eras = `gwc_mcp_eras_total{route="mixed",client="stateless",target="${target}"}`;
    await expect.poll(() => value(eras)).toBeGreaterThan(0);
  }
  const waiting = 'gwc_mcp_waiting_calls{era="stateless"}';
  const before = await value(waiting);
  expect(before).toBeGreaterThan(0);
  const [asked] = messagesOf(response);
  const { requestState } = JSON.parse(JSON.stringify(asked)).result;
  const inputResponses = { r1: { action: "decline" } };
  await ask(url("mixed"), "tools/call", { ...params, requestState, inputResponses }, headers);
  expect(await value(waiting)).toBe(before - 1);
  const call = /mcp\.method\.name=tools\/call.*mcp\.target\.era=sessions/;
  await expect.poll(() => gateway.output).toMatch(call);
});

describe("sessions with the server", () => {
  const opened = () => raw.seen.filter(({ text }) => text.includes('"initialize"'));
  const list = (subject?: string) =>
    ask(url("raw"), "tools/list", {}, subject === undefined ? {} : as(subject));

  it("belong to one subject, and serve its next request too", async () => {
    raw.seen.length = 0;
    await list("ada");
    await list("ada");
    expect(opened().length).toBe(1);
    await list("bob");
    expect(opened().length).toBe(2);
  });

  it("are opened for each request, and ended, where nobody knows who asks", async () => {
    raw.seen.length = 0;
    await list();
    await list();
    expect(opened().length).toBe(2);
    await expect.poll(() => raw.seen.filter(({ method }) => method === "DELETE").length).toBe(2);
  });

  it("over stdio are of those of whom nobody knows who asks, until one of them calls something", async () => {
    const started = 'gwc_mcp_stdio_starts_total{target="stdio"}';
    const children = async () =>
      (await expositionOf(await gateway.statsPort())).value(started) ?? 0;
    const nobody = (method: string, params = {}) => ask(url("stdio"), method, params);
    const before = await children();
    for (const method of ["tools/list", "prompts/list", "server/discover"]) await nobody(method);
    await nobody("tools/call", { name: "test_simple_text" });
    const first = await children();
    await nobody("tools/call", { name: "test_simple_text" });
    await nobody("tools/list");
    expect([first - before, (await children()) - before]).toEqual([1, 3]);
  });

  it("are told nothing of the stateless revision", async () => {
    raw.seen.length = 0;
    const response = await list("ada");
    expect(JSON.parse(response.text).result).toEqual({
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      tools: [],
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "raw", version: "1" } },
    });
    const listed = raw.seen.find(({ text }) => text.includes("tools/list"));
    expect(listed?.text).not.toContain("io.modelcontextprotocol");
    expect(listed?.headers).not.toHaveProperty("mcp-method");
    expect(listed?.headers["mcp-protocol-version"]).toBe("2025-06-18");
  });
});

describe("what a scripted server with sessions says", () => {
  const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
  const stream = { "content-type": "text/event-stream", "mcp-session-id": "s" };
  const json = { "content-type": "application/json", "mcp-session-id": "s" };
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true },
    logging: {},
  };
  const opened = {
    protocolVersion: "2025-11-25",
    capabilities,
    serverInfo: { name: "raw", version: "1" },
  };
  let ownStream: ServerResponse | undefined;
  let results: Readonly<Record<string, object>> = {};
  let pending: ((message: object) => void) | undefined;

  const sent = () => raw.seen.flatMap(({ text }) => (text === "" ? [] : [JSON.parse(text)]));

  beforeEach(() => {
    raw.seen.length = 0;
    results = {};
    raw.response = (response, { method }, { id, ...message }) => {
      if (method === "DELETE") return void response.writeHead(200).end();
      if (method === "GET") {
        ownStream = response;
        return response.writeHead(200, stream).flushHeaders();
      }
      if (message.method === undefined || id === undefined) {
        response.writeHead(202).end();
        if (message.method === undefined) pending?.({ result: { content: [] } });
        return;
      }
      if (message.method === "server/discover") {
        const error = { code: -32601, message: "Method not found" };
        return void response
          .writeHead(200, json)
          .end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      }
      const respond = (body: object) =>
        void response.writeHead(200, json).end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
      if (message.method === "tools/call" && results["tools/call"] === undefined) {
        pending = respond;
        ownStream?.write(event({ id: 7, method: "elicitation/create", params: { message: "m" } }));
        return;
      }
      const result = message.method === "initialize" ? opened : results[String(message.method)];
      respond(result !== undefined && "error" in result ? result : { result: result ?? {} });
    };
  });

  const call = (params: object = {}, caller = "eve") =>
    ask(url("raw"), "tools/call", { name: "t", arguments: {}, ...params }, as(caller));

  it("on its session's own stream is asked for the call that is under way", async () => {
    const [asked] = messagesOf(await call());
    const { resultType, inputRequests, requestState } = JSON.parse(JSON.stringify(asked)).result;
    expect([resultType, inputRequests]).toEqual([
      "input_required",
      { r1: { method: "elicitation/create", params: { message: "m" } } },
    ]);
    const done = await call({ requestState, inputResponses: { r1: { action: "decline" } } });
    expect(JSON.parse(done.text).result).toMatchObject({ resultType: "complete", content: [] });
    expect(sent().find(({ id }) => id === 7)?.result).toEqual({ action: "decline" });
  });

  it("in response while its client is asked is there when the client comes back", async () => {
    const [asked] = messagesOf(await call());
    const { requestState } = JSON.parse(JSON.stringify(asked)).result;
    pending?.({ result: { content: [] } });
    pending = undefined;
    // Once this is answered, what was said before it has been read.
    ownStream?.write(event({ id: 8, method: "ping" }));
    await expect.poll(() => sent().some(({ id }) => id === 8)).toBe(true);
    const done = await call({ requestState, inputResponses: { r1: { action: "decline" } } });
    expect(JSON.parse(done.text).result).toMatchObject({ resultType: "complete", content: [] });
    await expect
      .poll(() => sent().find(({ id }) => id === 7)?.result)
      .toEqual({ action: "decline" });
  });

  it("as a question that its own response overtakes is refused", async () => {
    const { response } = raw;
    raw.response = (out, request, message) => {
      response(out, request, message);
      if (message.method === "tools/call") pending?.({ result: { content: [] } });
      pending = undefined;
    };
    const done = await call();
    expect(JSON.parse(done.text).result).toMatchObject({ resultType: "complete", content: [] });
    await expect
      .poll(() => sent().find(({ id }) => id === 7)?.error)
      .toMatchObject({ code: -32601 });
  });

  it("as a question that the client can't answer is refused", async () => {
    const unable = { "io.modelcontextprotocol/clientCapabilities": { sampling: {} } };
    await call({ _meta: { ...envelope, ...unable } });
    expect(sent().find(({ id }) => id === 7)?.error).toMatchObject({ code: -32601 });
  });

  it("of changes reaches who has subscribed, what the server offers and nothing else", async () => {
    const client = await connectStateless(url("raw"), {}, as("eve"));
    const heard: unknown[] = [];
    client.setNotificationHandler(
      "notifications/tools/list_changed",
      () => void heard.push("tools"),
    );
    client.setNotificationHandler(
      "notifications/prompts/list_changed",
      () => void heard.push("no"),
    );
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void heard.push(params.uri),
    );
    const subscription = await client.listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ["x://a"],
    });
    expect(subscription.honoredFilter).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ["x://a"],
    });
    expect(sent().find(({ method }) => method === "resources/subscribe")?.params).toEqual({
      uri: "x://a",
    });
    ownStream?.write(event({ method: "notifications/prompts/list_changed" }));
    ownStream?.write(event({ method: "notifications/tools/list_changed" }));
    ownStream?.write(
      event({ method: "notifications/resources/updated", params: { uri: "x://a" } }),
    );
    await expect.poll(() => heard).toEqual(["tools", "x://a"]);
    await subscription.close();
    await expect.poll(() => raw.seen.some(({ method }) => method === "DELETE")).toBe(true);
    await client.close();
  });

  it("in its log is from the level that the request names", async () => {
    results = { "tools/list": { tools: [] } };
    const level = { ...envelope, "io.modelcontextprotocol/logLevel": "warning" };
    await ask(url("raw"), "tools/list", { _meta: level }, as("eve"));
    await ask(url("raw"), "tools/list", { _meta: level }, as("eve"));
    const methods = sent().map(({ method }) => method);
    expect(methods.filter((method) => method === "logging/setLevel")).toEqual(["logging/setLevel"]);
    expect(methods.indexOf("logging/setLevel")).toBeLessThan(methods.indexOf("tools/list"));
  });

  it("of a URL that the user must open is asked for, where the client can", async () => {
    const elicitations = [{ mode: "url", elicitationId: "e", url: "https://x.test", message: "m" }];
    const error = { code: -32042, message: "URL elicitation required", data: { elicitations } };
    results = { "tools/call": { error } };
    const able = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } } };
    const asked = await call({ _meta: { ...envelope, ...able } });
    const params = { mode: "url", url: "https://x.test", message: "m" };
    expect(JSON.parse(asked.text).result).toEqual({
      resultType: "input_required",
      inputRequests: { r1: { method: "elicitation/create", params } },
    });
    const unable = await call();
    expect([unable.status, JSON.parse(unable.text).error]).toMatchObject([
      400,
      { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
    ]);
  });

  it("of tools that run as tasks is left out", async () => {
    const tool = (name: string, taskSupport?: string) => ({
      name,
      inputSchema: { type: "object" },
      ...(taskSupport === undefined ? {} : { execution: { taskSupport } }),
    });
    results = {
      "tools/list": { tools: [tool("a"), tool("b", "optional"), tool("c", "required")] },
    };
    const listed = await ask(url("raw"), "tools/list", {}, as("eve"));
    expect(JSON.parse(listed.text).result.tools).toEqual([tool("a"), tool("b")]);
  });

  it("of a session that it has forgotten is not the client's business", async () => {
    results = { "tools/list": { tools: [] } };
    await ask(url("raw"), "tools/list", {}, as("eve"));
    const { response } = raw;
    raw.response = (out, request, message) => {
      if (message.method === "tools/list") {
        raw.response = response;
        out.writeHead(404).end();
      } else response(out, request, message);
    };
    const listed = await ask(url("raw"), "tools/list", {}, as("eve"));
    expect([listed.status, JSON.parse(listed.text).result.tools]).toEqual([200, []]);
  });

  it("when it has become one of the other era is understood", async () => {
    results = { "tools/list": { tools: [{ name: "old", inputSchema: { type: "object" } }] } };
    const names = async () => {
      const listed = await ask(url("changing"), "tools/list", {}, as("eve"));
      return [listed.status, JSON.parse(listed.text).result?.tools[0].name];
    };
    const { response } = raw;
    raw.response = (out, _, { id, method }) => {
      const tools = { resultType: "complete", tools: [{ name: "new" }] };
      const discovered = { supportedVersions: [revision], capabilities: {} };
      const result = method === "server/discover" ? discovered : tools;
      out.writeHead(200, json).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    };
    expect(await names()).toEqual([200, "new"]);
    // A server of before is in its place: it wants a session first.
    raw.response = (out, request, message) => {
      const hasSession = request.headers["mcp-session-id"] !== undefined;
      if (hasSession || message.method === "initialize" || request.method !== "POST") {
        response(out, request, message);
        return;
      }
      const error = { code: -32000, message: "Bad Request: Server not initialized" };
      out.writeHead(400, json).end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
    };
    expect((await names())[0]).toBe(400);
    expect(await names()).toEqual([200, "old"]);
  });
});
