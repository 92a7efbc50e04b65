import type { ServerResponse } from "node:http";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { ask, connectStateless, envelope, revision } from "./stateless-client.ts";
import { as } from "./subjects.ts";

let gateway: Gateway;
let raw: RawUpstream;
const url = (route: string) => gateway.url.replace("/mcp", `/${route}`);

beforeAll(async () => {
  raw = await startUpstream(mcpResponses({}));
  const targets = [{ name: "raw", mcp: { host: raw.url } }];
  gateway = await startMcpGateway(
    ["raw", "changing"].map((name) => ({ name, path: `/${name}`, targets, hasSubjects: true })),
    { SESSION_KEY: "ab".repeat(32) },
  );
});

describe("a message of a scripted server with sessions", () => {
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

  /** The session's own stream. The gateway does not wait for it longer than a second. */
  const openStream = () => eventually(() => ownStream ?? null, "the session's own stream");

  const sent = () => raw.seen.flatMap(({ text }) => (text === "" ? [] : [JSON.parse(text)]));

  beforeEach(() => {
    raw.seen.length = 0;
    results = {};
    raw.response = (response, { method }, { id, ...message }) => {
      if (method === "DELETE") return void response.writeHead(200).end();
      if (method === "GET") {
        ownStream = response;
        response.on("close", () => {
          if (ownStream === response) ownStream = undefined;
        });
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
        const asking = { id: 7, method: "elicitation/create", params: { message: "m" } };
        const send = (opened: ServerResponse) => void opened.write(event(asking));
        if (ownStream === undefined) void openStream().then(send);
        else send(ownStream);
        return;
      }
      const result = message.method === "initialize" ? opened : results[String(message.method)];
      respond(result !== undefined && "error" in result ? result : { result: result ?? {} });
    };
  });

  const call = (params: object = {}, caller = "eve") =>
    ask(url("raw"), "tools/call", { name: "t", arguments: {}, ...params }, as(caller));

  it("on its session's own stream is assigned to the call in flight", async () => {
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

  it("that is the response, sent during a client's input, is delivered when the client returns", async () => {
    const [asked] = messagesOf(await call());
    const { requestState } = JSON.parse(JSON.stringify(asked)).result;
    pending?.({ result: { content: [] } });
    pending = undefined;
    // Once this is answered, all earlier messages have been read.
    (await openStream()).write(event({ id: 8, method: "ping" }));
    await expect.poll(() => sent().some(({ id }) => id === 8)).toBe(true);
    const done = await call({ requestState, inputResponses: { r1: { action: "decline" } } });
    expect(JSON.parse(done.text).result).toMatchObject({ resultType: "complete", content: [] });
    await expect
      .poll(() => sent().find(({ id }) => id === 7)?.result)
      .toEqual({ action: "decline" });
  });

  it("that is a request overtaken by its own response is refused", async () => {
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

  it("that is a request the client cannot answer is refused", async () => {
    const unable = { "io.modelcontextprotocol/clientCapabilities": { sampling: {} } };
    await call({ _meta: { ...envelope, ...unable } });
    expect(sent().find(({ id }) => id === 7)?.error).toMatchObject({ code: -32601 });
  });

  it("about changes reaches only subscribers", async () => {
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
    const opened = await openStream();
    opened.write(event({ method: "notifications/prompts/list_changed" }));
    opened.write(event({ method: "notifications/tools/list_changed" }));
    opened.write(event({ method: "notifications/resources/updated", params: { uri: "x://a" } }));
    await expect.poll(() => heard).toEqual(["tools", "x://a"]);
    await subscription.close();
    await expect.poll(() => raw.seen.some(({ method }) => method === "DELETE")).toBe(true);
    await client.close();
  });

  it("that is a log line is delivered from the level that the request names", async () => {
    results = { "tools/list": { tools: [] } };
    const level = { ...envelope, "io.modelcontextprotocol/logLevel": "warning" };
    await ask(url("raw"), "tools/list", { _meta: level }, as("eve"));
    await ask(url("raw"), "tools/list", { _meta: level }, as("eve"));
    const methods = sent().map(({ method }) => method);
    expect(methods.filter((method) => method === "logging/setLevel")).toEqual(["logging/setLevel"]);
    expect(methods.indexOf("logging/setLevel")).toBeLessThan(methods.indexOf("tools/list"));
  });

  it("about a URL that the user must open becomes a request for it, if the client supports that", async () => {
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

  it("with tools that run as tasks is delivered without them", async () => {
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

  it("about a forgotten session is hidden from the client", async () => {
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

  it("of the other era is understood", async () => {
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
    // An older server has replaced it, which requires a session.
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
