import { beforeAll, describe, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import type { Gateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { ownScript } from "../harness/own-script.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startAskingServer } from "./asking-server.ts";
import { startHandwritten, startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf } from "./raw-client.ts";
import { type RawUpstream, type Response, startUpstream } from "./raw-upstream.ts";
import { ask } from "./stateless-client.ts";
import { as } from "./subjects.ts";

/** Number of calls that may wait, number of calls that are made, and length of their arguments. */
const [most, made, length] =
  process.env.GWC_LONG_TESTS === "1" ? [10_000, 10_200, 1_000] : [20, 40, 500_000];

/** A stateless server that always requires more input. */
const alwaysNeedsMore: Response = (response, _, { id, method }) => {
  const discovered = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  const needed = { resultType: "input_required", requestState: "s" };
  const result = method === "server/discover" ? discovered : needed;
  const type = { "content-type": "application/json" };
  response.writeHead(200, type).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
};

const env = { SESSION_KEY: "ab".repeat(32) };
let asking: RawUpstream;
let needing: RawUpstream;
let gateway: Gateway;

beforeAll(async () => {
  [asking, needing] = [await startAskingServer(), await startUpstream(alwaysNeedsMore)];
  const targets = [{ name: "asking", mcp: { host: asking.url } }];
  const both = ["a", "b"].map((name) => ({ name, mcp: { host: needing.url } }));
  const limits = { sessions: most * 2, sessionsPerCaller: most };
  const route = (name: string) => ({ name, path: `/${name}`, targets, limits });
  const routes = [
    route("own"),
    { ...route("brief"), timeouts: { input: 200 } },
    route("many"),
    { ...route("merged"), targets: both },
    { ...route("briefly_merged"), targets: both, timeouts: { input: 200 } },
  ];
  gateway = await startHandwritten({ routes }, env);
});

const at = (route: string) => gateway.url.replace("/mcp", `/${route}`);

async function waitingCalls(): Promise<number> {
  const { value } = await expositionOf(await gateway.statsPort());
  return value('gwc_mcp_waiting_calls{era="stateless"}') ?? 0;
}

const call = (url: string, params: object = {}, headers = {}) =>
  ask(url, "tools/call", { name: "t", arguments: {}, ...params }, headers);

const shown = async (response: ReturnType<typeof call>) =>
  JSON.parse(JSON.stringify(messagesOf(await response).at(-1)));

it("a call whose client does not return in time ends with its session", async () => {
  const url = at("brief");
  const { requestState } = (await shown(call(url))).result;
  const isEnded = () => asking.seen.some(({ method }) => method === "DELETE");
  await expect.poll(isEnded).toBe(true);
  // Sent over another connection.
  const isCancelled = () =>
    asking.seen.some(({ text }) => text.includes("notifications/cancelled"));
  await expect.poll(isCancelled).toBe(true);
  const inputResponses = { r1: { action: "accept" } };
  expect(await shown(call(url, { requestState, inputResponses }))).toMatchObject({
    error: { code: -32602 },
  });
  expect(await waitingCalls()).toBe(0);
});

it("a state belongs to its caller, even if only the server knows the caller", async () => {
  const url = at("own");
  const before = await waitingCalls();
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const { requestState } = (await shown(call(url, {}, bearer("ada")))).result;
  const params = { requestState, inputResponses: { r1: { action: "accept" } } };
  for (const other of [bearer("bob"), {}]) {
    expect((await shown(call(url, params, other))).error).toMatchObject({
      code: -32602,
      message: "Invalid requestState",
    });
  }
  expect(await waitingCalls()).toBe(before + 1);
  expect((await shown(call(url, params, bearer("ada")))).result.resultType).toBe("complete");
  expect(await waitingCalls()).toBe(before);
});

it(`of ${made} calls at most ${most} wait, in bounded memory`, async () => {
  const url = at("many");
  const held = await heldMegabytes(gateway);
  // A waiting server has read them, so they are not stored elsewhere.
  const long = { arguments: { text: "x".repeat(length) } };
  const responses = await inParts(made, () => call(url, long));
  const states = responses.flatMap((response) =>
    response.status === 200 ? [JSON.parse(JSON.stringify(messagesOf(response)[0]))] : [],
  );
  expect(responses.filter(({ status }) => status === 503).length).toBe(made - most);
  expect(states.length).toBe(most);
  expect(await waitingCalls()).toBe(most);
  // A connection, its buffers, and the request: about 24 KB each.
  expect((await heldMegabytes(gateway)) - held).toBeLessThan(5 + most * 0.05);
  const inputResponses = { r1: { action: "accept" } };
  const goOn = () => {
    const { requestState } = states.pop().result;
    return shown(call(url, { ...long, requestState, inputResponses }));
  };
  const done = await inParts(most, goOn);
  expect(done.filter(({ result }) => result?.resultType === "complete").length).toBe(most);
  expect(await waitingCalls()).toBe(0);
  // Connections to the server stay open for a while after their last request.
  const left = async () => (await heldMegabytes(gateway)) - held;
  await expect.poll(left, { interval: 1_000 }).toBeLessThan(10);
}, 600_000);

it(`${most} waiting calls to stateless servers use no memory`, async () => {
  const held = await heldMegabytes(gateway);
  const states = await inParts(most, async () => {
    const { result } = await shown(call(at("merged"), { name: "a_t" }));
    return result.requestState;
  });
  expect(new Set(states).size).toBe(most);
  expect(await waitingCalls()).toBe(0);
  expect((await heldMegabytes(gateway)) - held).toBeLessThan(10);
}, 600_000);

it("a state of one of several servers is valid only for its request, and expires", async () => {
  const again = async (route: string, requestState: string, params: object = {}) =>
    (await shown(call(at(route), { name: "a_t", requestState, ...params }))).error?.code ?? 0;
  const stateOf = async (route: string) =>
    (await shown(call(at(route), { name: "a_t" }))).result.requestState;
  const state = await stateOf("merged");
  expect(await again("merged", state)).toBe(0);
  for (const other of [{ name: "b_t" }, { name: "a_u" }, { arguments: { x: 1 } }]) {
    expect(await again("merged", state, other)).toBe(-32602);
  }
  const brief = await stateOf("briefly_merged");
  await expect.poll(() => again("briefly_merged", brief)).toBe(-32602);
});

/** Sends this number of requests, a few at a time: slow bodies are refused, however busy the machine is. */
async function inParts<T>(count: number, make: () => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  while (all.length < count) {
    const part = Math.min(10, count - all.length);
    all.push(...(await Promise.all(Array.from({ length: part }, make))));
  }
  return all;
}

describe("when a replica is killed in the middle of a round trip", () => {
  let replicas: readonly [Gateway, Gateway];
  const path = (route: string, of: Gateway) => of.url.replace("/mcp", `/${route}`);
  const asAda = (of: Gateway, params: object = {}, route = "sessions", name = "test_elicitation") =>
    shown(call(path(route, of), { name, arguments: { message: "m" }, ...params }, as("ada")));
  let waits: Record<string, string>;
  const stateTool = "a_test_input_required_result_request_state";

  beforeAll(async () => {
    const servers = [
      new TestProcess(process.execPath, [ownScript("conformance/mcp-server.ts")]),
      new TestProcess(process.execPath, [ownScript("conformance/stateless-server.ts"), "http"]),
    ];
    const [old, stateless] = await Promise.all(
      servers.map(async (server) => {
        const [, port] = await server.seen(/port (\d+)/);
        return { host: `http://127.0.0.1:${port}/mcp` };
      }),
    );
    if (old === undefined || stateless === undefined) throw new Error("two servers");
    const merged = ["a", "b"].map((name) => ({ name, mcp: stateless }));
    const one = [{ name: "one", mcp: old }];
    const routes = [
      { name: "sessions", path: "/sessions", targets: one, hasSubjects: true },
      { name: "stateless", path: "/stateless", targets: merged, hasSubjects: true },
    ];
    replicas = await Promise.all([startMcpGateway(routes, env), startMcpGateway(routes, env)]);
    const [first] = replicas;
    waits = {
      sessions: (await asAda(first)).result.requestState,
      stateless: (await asAda(first, {}, "stateless", stateTool)).result.requestState,
    };
    await first.stop("SIGKILL");
  });

  it("the other one reports that a server with sessions has lost the call, and serves it again", async () => {
    const [, second] = replicas;
    const inputResponses = { r1: { action: "decline" } };
    const lost = await asAda(second, { requestState: waits.sessions, inputResponses });
    expect(lost.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("call again"),
    });
    const { requestState } = (await asAda(second)).result;
    const done = await asAda(second, { requestState, inputResponses });
    expect(JSON.stringify(done.result)).toContain("decline");
  });

  it("the other one continues the call of a stateless server", async () => {
    const [, second] = replicas;
    const inputResponses = { confirm: { action: "accept", content: { ok: true } } };
    const params = { requestState: waits.stateless, inputResponses };
    const done = await asAda(second, params, "stateless", stateTool);
    expect(JSON.stringify(done.result)).toContain("state-ok");
  });
});
