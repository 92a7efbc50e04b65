import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { startGateway } from "../harness/gateway.ts";
import { startGuardWebhook } from "../harness/guard-webhook.ts";
import { gwc } from "../harness/gwc.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { patient } from "../harness/patient-callout.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startGuardServices } from "../llm/guard-servers.ts";
import {
  messagesOf,
  openSession,
  post,
  type RawResponse,
  send,
  toolCall,
} from "../mcp/raw-client.ts";
import { type RawUpstream, startUpstream } from "../mcp/raw-upstream.ts";
import { ask, connectStateless } from "../mcp/stateless-client.ts";
import { findings } from "./refused.ts";
import { startRoutes } from "./routes.ts";

const masks = { regex: { rules: [{ builtin: "email" }, { builtin: "creditCard" }] } };
const rejects = {
  regex: { action: "reject", rules: [{ pattern: "secret[0-9]+" }] },
  response: { message: "no secrets" },
};

let gateway: Gateway;
let upstream: RawUpstream;
/** The messages that the server sends before the response of a call, and its response without the id. */
let said: { readonly before: readonly object[]; readonly last: object } = { before: [], last: {} };

beforeAll(async () => {
  const [webhook, services, tools] = await Promise.all([
    startGuardWebhook(),
    startGuardServices(),
    startMcpServer(),
  ]);
  upstream = await startUpstream((response, { method }, { id, method: called }) => {
    if (method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const message of said.before)
        response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
      return;
    }
    if (id === undefined || called === undefined) return void response.writeHead(202).end();
    const json = { "content-type": "application/json" };
    const result = RESULTS[String(called)];
    if (result !== undefined) {
      const session = called === "initialize" ? { "mcp-session-id": "s" } : {};
      response.writeHead(200, { ...json, ...session });
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
    if (said.before.length === 0) {
      response.writeHead(200, json);
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id, ...said.last }));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const message of [...said.before, { id, ...said.last }])
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
    response.end();
  });
  const route = (mcpGuards: object, mcp: object = {}) => ({
    policies: { mcpGuards },
    backends: [{ mcp: { targets: [{ name: "main", mcp: { host: upstream.url } }], ...mcp } }],
  });
  const both = { request: [masks, rejects], response: [masks, rejects] };
  const hook = {
    webhook: {
      target: { host: webhook.url, policies: patient },
      headers: { "x-path": "request.path" },
    },
  };
  const moderation = (behaviour: string, failureMode: string) => ({
    openAIModeration: { host: `http://${services.host}/${behaviour}`, failureMode },
    response: { message: "flagged" },
  });
  gateway = await startRoutes(
    {
      both: route(both),
      stateless: route(both, {
        targets: [{ name: "main", mcp: { host: upstream.url }, era: "stateless" }],
      }),
      search: route(both, {
        targets: [{ name: "main", mcp: { host: tools.url } }],
        toolSearch: { above: 1 },
      }),
      hook: route({ request: [hook], response: [hook] }),
      moderated: route({ request: [moderation("finds", "failClosed")] }),
      closed: route({ request: [moderation("error", "failClosed")] }),
      open: route({ request: [moderation("error", "failOpen")] }),
    },
    upstream,
  );
});

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "s", version: "1" },
  },
  "server/discover": {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: "private",
  },
  "tools/list": {
    resultType: "complete",
    ...{ ttlMs: 0, cacheScope: "private" },
    tools: [
      {
        name: "find",
        description: "Mail ann@example.com",
        inputSchema: {
          type: "object",
          properties: { who: { type: "string", "x-mcp-header": "Who" } },
        },
      },
    ],
  },
};

beforeEach(() => {
  said = { before: [], last: { result: { content: [] } } };
});

const url = (route: string) => `${gateway.url}/${route}`;

/** Calls a tool with a session. */
async function call(route: string, args: object): Promise<RawResponse> {
  return post(url(route), toolCall("find", 1, args), await openSession(url(route)));
}

const lastCall = () => upstream.seen.findLast(({ text }) => text.includes('"tools/call"'));
const errorOf = (response: RawResponse) =>
  (messagesOf(response).at(-1) as { error?: { code: number; message: string } }).error;

describe("arguments", () => {
  it("are masked before the server gets them, with names, numbers and escapes", async () => {
    await post(
      url("both"),
      String.raw`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"who":"ann\u0040example.com","card":4111111111111111,"ann@example.com":[true,9007199254740993]}}}`,
      await openSession(url("both")),
    );
    const { params } = JSON.parse(lastCall()?.text ?? "{}");
    expect(params).toMatchObject({
      name: "find",
      arguments: { who: "<EMAIL_ADDRESS>", card: "<CREDIT_CARD>" },
    });
    expect(lastCall()?.text).not.toMatch(/ann|4111/);
  });

  it("without a match are forwarded as they were sent", async () => {
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call", "params":{"name":"find","arguments":{"n":9007199254740993}}}';
    await post(url("both"), body, await openSession(url("both")));
    expect(lastCall()?.text).toBe(body);
  });

  it("are rejected with an error of JSON-RPC, and the server is not called", async () => {
    const before = upstream.seen.length;
    const session = await openSession(url("both"));
    const response = await post(url("both"), toolCall("find", "x", { a: ["secret42"] }), session);
    expect(response.status).toBe(200);
    expect(JSON.parse(response.text)).toMatchObject({
      id: "x",
      error: { code: -32602, message: "no secrets" },
    });
    const since = upstream.seen.slice(before).map(({ text }) => text);
    expect(since.some((text) => text.includes("tools/call"))).toBe(false);
    await gateway.seen(/guard\.request=2\.regex:reject:1 .*reason=PromptGuard/);
  });

  it("with a duplicate key are refused, because servers differ on which one counts", async () => {
    const body =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"a":"secret1"},"arguments":{"a":"x"}}}';
    const response = await post(url("both"), body, await openSession(url("both")));
    expect(errorOf(response)).toMatchObject({ code: -32602 });
  });

  it("of stateless clients are masked in the headers that repeat them", async () => {
    const client = await connectStateless(url("stateless"));
    await client.listTools();
    said = { before: [], last: { result: { resultType: "complete", content: [] } } };
    await client.callTool({ name: "find", arguments: { who: "ann@example.com" } });
    expect(lastCall()?.headers).toMatchObject({ "mcp-param-who": "<EMAIL_ADDRESS>" });
    expect(JSON.parse(lastCall()?.text ?? "{}").params.arguments).toEqual({
      who: "<EMAIL_ADDRESS>",
    });
  });

  it("of a call through the tool search are guarded", async () => {
    const client = await connectStateless(url("search"));
    const { tools } = await client.listTools();
    const name = tools.find((each) => each.name.startsWith("call"))?.name ?? "";
    const given = { name: "hello", arguments: { a: "secret1" } };
    await expect(client.callTool({ name, arguments: given })).rejects.toThrow("no secrets");
    const passed = { name: "hello", arguments: { a: "ann@example.com" } };
    expect((await client.callTool({ name, arguments: passed })).content).toEqual([
      { type: "text", text: "hello" },
    ]);
  });

  it("of prompts and resources are guarded alike, and so are answers to questions", async () => {
    const session = await openSession(url("both"));
    const read = {
      jsonrpc: "2.0",
      id: 1,
      method: "resources/read",
      params: { uri: "x://secret1" },
    };
    expect(errorOf(await post(url("both"), read, session))).toMatchObject({ code: -32602 });
    const answer = (content: object) => ({
      jsonrpc: "2.0",
      id: 7,
      result: { action: "accept", content },
    });
    await post(url("both"), answer({ mail: "ann@example.com", card: 4111111111111111 }), session);
    expect(JSON.parse(upstream.seen.at(-1)?.text ?? "{}").result.content).toEqual({
      mail: "<EMAIL_ADDRESS>",
      card: "<CREDIT_CARD>",
    });
    await post(url("both"), answer({ mail: "secret1" }), session);
    expect(JSON.parse(upstream.seen.at(-1)?.text ?? "{}")).toMatchObject({
      id: 7,
      error: { message: "no secrets" },
    });
  });
});

describe("results", () => {
  it("are masked in texts, across texts, in structures, files and links", async () => {
    const blob = Buffer.from("mail ann@example.com").toString("base64");
    const image = Buffer.from("mail ann@example.com").toString("base64");
    const content = [
      { type: "text", text: "Mail ann@exam" },
      { type: "text", text: "ple.com" },
      { type: "image", mimeType: "image/png", data: image },
      { type: "resource", resource: { uri: "x://a", mimeType: "text/plain", blob } },
      { type: "resource_link", uri: "mailto:ann@example.com", name: "Ann" },
    ];
    const structuredContent = { mail: "ann@example.com", card: 4111111111111111, n: [1] };
    said = { before: [], last: { result: { content, structuredContent } } };
    const { text } = await call("both", {});
    expect(JSON.parse(text).result).toEqual({
      content: [
        { type: "text", text: "Mail <EMAIL_ADDRESS>" },
        { type: "text", text: "<EMAIL_ADDRESS>" },
        { type: "image", mimeType: "image/png", data: image },
        {
          type: "resource",
          resource: {
            uri: "x://a",
            mimeType: "text/plain",
            blob: Buffer.from("mail <EMAIL_ADDRESS>").toString("base64"),
          },
        },
        { type: "resource_link", uri: "mailto:<EMAIL_ADDRESS>", name: "Ann" },
      ],
      structuredContent: { mail: "<EMAIL_ADDRESS>", card: "<CREDIT_CARD>", n: [1] },
    });
  });

  it("are rejected with an error of JSON-RPC", async () => {
    said = { before: [], last: { result: { content: [{ type: "text", text: "a secret7" }] } } };
    expect(errorOf(await call("both", {}))).toEqual({ code: -32603, message: "no secrets" });
  });

  it("that are errors are guarded too", async () => {
    const error = {
      code: -32000,
      message: "no ann@example.com",
      data: { card: "4111111111111111" },
    };
    said = { before: [], last: { error } };
    expect(errorOf(await call("both", {}))).toEqual({
      code: -32000,
      message: "no <EMAIL_ADDRESS>",
      data: { card: "<CREDIT_CARD>" },
    });
  });

  it("of streams are masked, with the messages before them", async () => {
    const params = { progressToken: 1, progress: 1, message: "reads ann@example.com" };
    said = {
      before: [
        { method: "notifications/progress", params },
        { method: "notifications/message", params: { level: "info", data: "secret1" } },
        {
          method: "notifications/message",
          params: { level: "info", data: { to: "ann@example.com" } },
        },
      ],
      last: { result: { content: [{ type: "text", text: "ann@example.com" }] } },
    };
    expect(messagesOf(await call("both", {}))).toMatchObject([
      { params: { progressToken: 1, message: "reads <EMAIL_ADDRESS>" } },
      { params: { data: { to: "<EMAIL_ADDRESS>" } } },
      { id: 1, result: { content: [{ text: "<EMAIL_ADDRESS>" }] } },
    ]);
  });

  it("end with the error if a question of the server is rejected", async () => {
    const params = {
      message: "Is it secret1?",
      requestedSchema: { type: "object", properties: {} },
    };
    said = {
      before: [{ id: 9, method: "elicitation/create", params }],
      last: { result: { content: [] } },
    };
    expect(messagesOf(await call("both", {}))).toMatchObject([
      { id: 1, error: { message: "no secrets" } },
    ]);
  });

  it("of stateless clients are masked, and ids of the protocol stay", async () => {
    const requestState = "4111111111111111";
    const question = {
      method: "elicitation/create",
      params: { message: "ann@example.com?", requestedSchema: {} },
    };
    const result = { resultType: "input_required", inputRequests: { k: question }, requestState };
    said = { before: [], last: { result } };
    const response = await ask(url("stateless"), "tools/call", { name: "find", arguments: {} });
    expect(messagesOf(response).at(-1)).toMatchObject({
      result: {
        inputRequests: { k: { params: { message: "<EMAIL_ADDRESS>?" } } },
        requestState,
      },
    });
  });

  it("on a stream that a client opens are masked", async () => {
    said = {
      before: [
        { method: "notifications/message", params: { level: "info", data: "ann@example.com" } },
      ],
      last: {},
    };
    const session = await openSession(url("both"));
    const headers = { ...session, accept: "text/event-stream" };
    const { text } = await send(url("both"), { method: "GET", headers, leaveAfter: 20 });
    expect(text).toContain("<EMAIL_ADDRESS>");
  });

  it("that describe tools are not guarded", async () => {
    const client = await connectStateless(url("stateless"));
    expect((await client.listTools()).tools[0]?.description).toBe("Mail ann@example.com");
  });
});

describe("guard servers", () => {
  it("mask arguments and results", async () => {
    said = { before: [], last: { result: { content: [{ type: "text", text: "the secret9" }] } } };
    const response = await call("hook", { a: "a secret1" });
    expect(JSON.parse(lastCall()?.text ?? "{}").params.arguments).toEqual({ a: "a [hidden]" });
    expect(JSON.parse(response.text).result.content).toEqual([
      { type: "text", text: "the [hidden]" },
    ]);
  });

  it("reject arguments", async () => {
    expect(errorOf(await call("moderated", { a: "secret1" }))).toEqual({
      code: -32602,
      message: "flagged",
    });
    expect(errorOf(await call("moderated", { a: "fine" }))).toBeUndefined();
  });

  it("that fail refuse calls, or let them pass where that is configured", async () => {
    expect(errorOf(await call("closed", { a: "x" }))).toMatchObject({ code: -32603 });
    expect(errorOf(await call("open", { a: "x" }))).toBeUndefined();
  });
});

it("manifests configure the same guards", async () => {
  const { port } = new URL(upstream.url);
  const { url: own } = await startGateway({
    config: `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: main}
spec: {gatewayClassName: gwc, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: tools}
spec:
  parentRefs: [{name: main}]
  rules: [{backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: tools}]}]
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata: {name: tools}
spec:
  mcp: {targets: [{name: main, static: {host: 127.0.0.1, port: ${port}, path: /mcp}}]}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: guards}
spec:
  targetRefs: [{group: gwc.dev, kind: GatewayBackend, name: tools}]
  backend:
    mcp:
      guards:
        request: [{regex: {builtins: [Email]}}]
        response: [{regex: {action: Reject, matches: ["secret[0-9]+"]}, response: {message: "no secrets"}}]
`,
  });
  said = { before: [], last: { result: { content: [{ type: "text", text: "secret1" }] } } };
  const session = await openSession(own);
  const response = await post(own, toolCall("find", 1, { a: "ann@example.com" }), session);
  expect(JSON.parse(lastCall()?.text ?? "{}").params.arguments).toEqual({ a: "<EMAIL_ADDRESS>" });
  expect(errorOf(response)?.message).toBe("no secrets");
});

it("mistakes are reported where they are", () => {
  const mcp = { mcp: { targets: [{ name: "main", mcp: { host: "http://127.0.0.1:1/mcp" } }] } };
  const of = (guard: object) =>
    findings({ policies: { mcpGuards: { request: [guard] } }, backends: [mcp] });
  expect(of(masks)).toEqual([]);
  expect(of({ regex: { rules: [{ pattern: "(" }] } })).toEqual(["cel-pattern"]);
  expect(of({ ...masks, response: { message: "x" } })).toEqual(["idle-guard-field"]);
  expect(of({ ...masks, scope: ["messages"] })).toEqual(["unknown-field"]);
  expect(findings({ policies: { mcpGuards: { request: [masks] } } })).not.toEqual([]);
});

it("commands show, try and compare the guards", async () => {
  const file = (guards: object) => `gateways: { default: { port: 3000 } }
routes:
- name: tools
  policies: ${JSON.stringify({ mcpGuards: guards })}
  backends: [{ mcp: { targets: [{ name: main, mcp: { host: "http://127.0.0.1:1/mcp" } }] } }]
`;
  const cwd = temporaryFolder({
    "gateway.yaml": file({ request: [masks], response: [rejects] }),
  });
  const after = temporaryFolder({ "gateway.yaml": file({ request: [masks] }) });
  const run = async (...args: readonly string[]) => (await gwc([...args], { cwd })).stdout;
  expect(await run("explain", "route", "tools")).toContain(
    "requests: 1.regex (masks email, creditCard; all parts)",
  );
  const tried = await run("eval", "--guard", "tools", "-f", "gateway.yaml", "to ann@example.com");
  expect(tried).toContain("to <EMAIL_ADDRESS>");
  const compared = await run("diff", "gateway.yaml", `${after}/gateway.yaml`);
  expect(compared).toMatch(/OPENS .*results: secret\[0-9\]\+: rejected -> passed/);
});
