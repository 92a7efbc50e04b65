import { beforeAll, describe, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import type { Gateway } from "../harness/gateway.ts";
import { serverScripts, startBothServers } from "./both-servers.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { answerServers, ask, connectStateless, envelope } from "./stateless-client.ts";
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
    { name: "ruled", path: "/ruled", targets: [http], rules: ['mcp.tool.name == "test_sampling"'] },
  ];
  const env = { SESSION_KEY: "ab".repeat(32) };
  [gateway, replica] = await Promise.all([
    startMcpGateway(routes, env),
    startMcpGateway(routes, env),
  ]);
});

// A server with sessions: alone over HTTP and stdio, and merged with one without.
describe.each([
  ["http", "", "", {}],
  ["http", "", "", as("ada")],
  ["stdio", "", "", as("ada")],
  ["mixed", "http_", "http+", {}],
])(
  "a client without sessions at a server with sessions, behind /%s,",
  (route, prefix, uriPrefix, headers) => {
    const connect = async () => {
      const capabilities = { elicitation: { form: {} }, sampling: {} };
      const client = await connectStateless(url(route), { capabilities }, headers);
      answerServers(client, { username: "ada", email: "a@x.test" });
      return client;
    };

    it("can use tools, prompts, resources and completions", async () => {
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

    it("responds to requests for the model and the user", async () => {
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

    it("gets progress under its own token each time", async () => {
      const client = await connect();
      for (let round = 0; round < 2; round++) {
        const steps: number[] = [];
        const params = { name: `${prefix}test_tool_with_progress` };
        await client.callTool(params, { onprogress: ({ progress }) => steps.push(progress) });
        expect(steps).toEqual([0, 50, 100]);
      }
      await client.close();
    });

    it("cannot use methods of sessions", async () => {
      const response = await ask(url(route), "ping", {}, headers);
      expect([response.status, JSON.parse(response.text).error.code]).toEqual([404, -32601]);
    });
  },
);

it("sees only what the rules allow", async () => {
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

  it("continues once with the response", async () => {
    const { resultType, inputRequests, requestState } = await asked();
    expect([resultType, inputRequests]).toMatchObject([
      "input_required",
      { r1: { method: "elicitation/create" } },
    ]);
    const done = await resultOf(call({ requestState, inputResponses: { r1 } }));
    expect(JSON.stringify(done.result)).toContain("a@x.test");
    expect(await resultOf(call({ requestState, inputResponses: { r1 } }))).toMatchObject(invalid);
  });

  it("is requested again if the response is missing or invalid", async () => {
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
  ])("is refused when it is %s", async (_, attempt) => {
    const { requestState } = await asked();
    expect(await resultOf(attempt(requestState))).toMatchObject(invalid);
    const done = await resultOf(call({ requestState, inputResponses: { r1 } }));
    expect(JSON.stringify(done.result)).toContain("a@x.test");
  });

  it("is unknown to another replica, which calls nothing again", async () => {
    const { requestState } = await asked();
    const elsewhere = await resultOf(
      call({ requestState, inputResponses: { r1 } }, "ada", replica),
    );
    expect(elsewhere).toMatchObject({ error: { code: -32602 } });
    expect(elsewhere.error.message).toContain("call again");
  });
});

it("a client whose _meta is too long is refused before a session is opened", async () => {
  raw.seen.length = 0;
  const clientInfo = { name: "x".repeat(70_000), version: "1" };
  const _meta = { ...envelope, "io.modelcontextprotocol/clientInfo": clientInfo };
  const refused = await ask(url("raw"), "tools/list", { _meta });
  expect(JSON.parse(refused.text).error).toEqual({
    code: -32602,
    message: "Invalid params: the client's _meta is longer than 65536 characters",
  });
  expect(raw.seen.filter(({ text }) => text.includes('"initialize"'))).toEqual([]);
});

it("the log and the metrics show both eras and the waiting calls", async () => {
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

  it("belong to one subject and are reused for its next request", async () => {
    raw.seen.length = 0;
    await list("ada");
    await list("ada");
    expect(opened().length).toBe(1);
    await list("bob");
    expect(opened().length).toBe(2);
  });

  it("of unknown callers are opened for each request", async () => {
    raw.seen.length = 0;
    await list();
    await list();
    expect(opened().length).toBe(2);
    await expect.poll(() => raw.seen.filter(({ method }) => method === "DELETE").length).toBe(2);
  });

  it("of unknown callers over stdio are shared until one of them calls something", async () => {
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

  it("contain nothing of the stateless revision", async () => {
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
