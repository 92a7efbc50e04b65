import { beforeAll, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import type { Gateway } from "../harness/gateway.ts";
import { TestProcess } from "../harness/test-process.ts";
import { startHandwritten, startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { ask } from "./stateless-client.ts";
import { as } from "./subjects.ts";

const env = { SESSION_KEY: "ab".repeat(32) };
/** A server with sessions that asks its user within every call. */
let asking: RawUpstream;

beforeAll(async () => {
  asking = await startUpstream((response, { method }, message) => {
    const { id } = message;
    if (method !== "POST") return void response.writeHead(method === "GET" ? 405 : 200).end();
    if (message.method === "tools/call") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const question = { jsonrpc: "2.0", id: 1, method: "elicitation/create", params: {} };
      return void response.write(`data: ${JSON.stringify(question)}\n\n`);
    }
    if (id === undefined || message.method === undefined) {
      return void response.writeHead(202).end();
    }
    const opened = { protocolVersion: "2025-11-25", capabilities: { tools: {} } };
    const error = { code: -32601, message: "Method not found" };
    const body = message.method === "initialize" ? { result: opened } : { error };
    const headers = { "content-type": "application/json", "mcp-session-id": "s" };
    response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
  });
});

function start(timeouts: Record<string, number>, limits: Record<string, number>): Promise<Gateway> {
  const targets = [{ name: "asking", mcp: { host: asking.url } }];
  return startHandwritten({ routes: [{ name: "route", targets, timeouts, limits }] }, env);
}

async function waitingAt(gateway: Gateway): Promise<number | undefined> {
  const { value } = await expositionOf(await gateway.statsPort());
  return value('gwc_mcp_waiting_calls{era="stateless"}');
}

const call = (url: string, params: object = {}, headers = {}) =>
  ask(url, "tools/call", { name: "t", arguments: {}, ...params }, headers);

const shown = async (response: ReturnType<typeof call>) =>
  JSON.parse(JSON.stringify(messagesOf(await response).at(-1)));

it("a call whose client does not come back in time ends, and so does its session", async () => {
  const gateway = await start({ input: 200 }, {});
  const { requestState } = (await shown(call(gateway.url))).result;
  const isEnded = () => asking.seen.some(({ method }) => method === "DELETE");
  await expect.poll(isEnded).toBe(true);
  expect(asking.seen.some(({ text }) => text.includes("notifications/cancelled"))).toBe(true);
  const inputResponses = { r1: { action: "accept" } };
  expect(await shown(call(gateway.url, { requestState, inputResponses }))).toMatchObject({
    error: { code: -32602 },
  });
  expect(await waitingAt(gateway)).toBe(0);
});

it("a state is its caller's, also where the server alone knows who that is", async () => {
  const gateway = await start({}, {});
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const { requestState } = (await shown(call(gateway.url, {}, bearer("ada")))).result;
  const params = { requestState, inputResponses: { r1: { action: "accept" } } };
  for (const other of [bearer("bob"), {}]) {
    expect((await shown(call(gateway.url, params, other))).error).toMatchObject({
      code: -32602,
      message: "Invalid requestState",
    });
  }
  expect(await waitingAt(gateway)).toBe(1);
});

it("no more calls wait than may, however many are made, and what is made beyond is told", async () => {
  const gateway = await start({}, { sessions: 40, sessionsPerCaller: 20 });
  const calls = Array.from({ length: 200 }, () => call(gateway.url));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBe(20);
  expect(statuses.filter((status) => status === 503).length).toBe(180);
  expect(await waitingAt(gateway)).toBe(20);
});

it("when the replica that waits is killed, another one says so, and serves the call anew", async () => {
  const script = new URL("../conformance/mcp-server.ts", import.meta.url).pathname;
  const server = new TestProcess(process.execPath, [script]);
  const [, port] = await server.seen(/port (\d+)/);
  const targets = [{ name: "one", mcp: { host: `http://127.0.0.1:${port}/mcp` } }];
  const routes = [{ name: "one", targets, hasSubjects: true }];
  const [first, second] = [await startMcpGateway(routes, env), await startMcpGateway(routes, env)];
  const ask = (gateway: Gateway, params: object = {}) =>
    shown(
      call(
        gateway.url,
        { name: "test_elicitation", arguments: { message: "m" }, ...params },
        as("ada"),
      ),
    );
  const { requestState } = (await ask(first)).result;
  await first.stop("SIGKILL");
  const inputResponses = { r1: { action: "decline" } };
  expect((await ask(second, { requestState, inputResponses })).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("call again"),
  });
  const again = (await ask(second)).result;
  const done = await ask(second, { requestState: again.requestState, inputResponses });
  expect(JSON.stringify(done.result)).toContain("decline");
});

it("what a stateless server waits for, any replica goes on with", async () => {
  const script = new URL("../conformance/stateless-server.ts", import.meta.url).pathname;
  const server = new TestProcess(process.execPath, [script, "http"]);
  const [, port] = await server.seen(/port (\d+)/);
  const host = `http://127.0.0.1:${port}/mcp`;
  const targets = [
    { name: "a", mcp: { host } },
    { name: "b", mcp: { host } },
  ];
  const routes = [{ name: "both", targets }];
  const [first, second] = [await startMcpGateway(routes, env), await startMcpGateway(routes, env)];
  const name = "a_test_input_required_result_request_state";
  const { requestState } = (await shown(call(first.url, { name }))).result;
  await first.stop("SIGKILL");
  const inputResponses = { confirm: { action: "accept", content: { ok: true } } };
  const done = await shown(call(second.url, { name, requestState, inputResponses }));
  expect(JSON.stringify(done.result)).toContain("state-ok");
});
