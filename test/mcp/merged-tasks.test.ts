import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { beforeAll, describe, expect, it } from "vitest";
import { startEverything } from "../harness/everything-server.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { messagesOf, openSession, post } from "./raw-client.ts";
import { connectSession } from "./session-client.ts";
import { as, issuer, keySet } from "./subjects.ts";

let gateway: Gateway;

beforeAll(async () => {
  const ports = await Promise.all([
    startEverything("streamableHttp"),
    startEverything("streamableHttp"),
  ]);
  const targets = ["one", "two"].map((name, at) => ({
    name,
    mcp: { host: `http://127.0.0.1:${ports[at]}/mcp` },
  }));
  const jwtAuth = { mode: "optional", issuer, jwks: { inline: keySet } };
  const route = (path: string, policies: object = {}) => ({
    matches: [{ path: { exact: path } }],
    policies: { jwtAuth, ...policies },
    backends: [{ mcp: { targets } }],
  });
  const rules = ["true", { deny: '"x-late" in request.headers' }];
  gateway = await startGateway({
    env: { SESSION_KEY: "5e".repeat(32) },
    listeners: [{ routes: [route("/mcp"), route("/rules", { mcpAuthorization: { rules } })] }],
  });
});

const tool = "two_simulate-research-query";
const text = (result: unknown) => JSON.stringify(result);

/** Calls the tool as a task. Returns the states that the client sees, and the result. */
async function research(client: Client, topic: string, ambiguous = false) {
  const states: string[] = [];
  const stream = client.experimental.tasks.callToolStream(
    { name: tool, arguments: { topic, ambiguous } },
    CallToolResultSchema,
    { task: { ttl: 60_000 } },
  );
  let id = "";
  for await (const message of stream) {
    if (message.type === "error") throw message.error;
    if (message.type === "result") return { id, states, result: text(message.result) };
    id = message.task.taskId;
    states.push(message.task.status);
  }
  throw new Error("the stream has no result");
}

describe("a task of a merged server", () => {
  it("is created, polled and read by a client of the SDK", async () => {
    const client = await connectSession(`${gateway.url}/mcp`);
    expect(client.getServerCapabilities()?.tasks).toEqual({
      requests: { tools: { call: {} } },
      list: {},
      cancel: {},
    });
    // The SDK knows from the list which tools run as tasks.
    await client.listTools();
    const { states, result } = await research(client, "gateways");
    expect(states.at(-1)).toBe("completed");
    expect(result).toContain("Research Report: gateways");
    await client.close();
  });

  it("asks its person through the request for its result", async () => {
    const client = await connectSession(`${gateway.url}/mcp`);
    await client.listTools();
    const { result } = await research(client, "python", true);
    expect(result).toContain("python (my interpretation)");
    await client.close();
  });
});

/** Creates a task. Returns its id. */
async function createdTask(url: string, headers: Record<string, string>): Promise<string> {
  const params = { name: tool, arguments: { topic: "x" }, task: { ttl: 60_000 } };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const answer = messagesOf(await post(url, message, headers)).at(-1);
  return (answer as { result: { task: { taskId: string } } }).result.task.taskId;
}

async function about(method: string, taskId: string, url: string, headers: Record<string, string>) {
  const message = { jsonrpc: "2.0", id: 2, method, params: { taskId } };
  return messagesOf(await post(url, message, headers)).at(-1) as {
    result?: { taskId?: string; status?: string };
    error?: { code: number; message: string };
  };
}

describe("the id of a task", () => {
  it("is another one than the server's, and is the same in every response about the task", async () => {
    const url = `${gateway.url}/mcp`;
    const session = await openSession(url);
    const id = await createdTask(url, session);
    expect(id.length).toBeGreaterThan(100);
    const found = await about("tasks/get", id, url, session);
    expect(found.result?.taskId).toBe(id);
    const cancelled = await about("tasks/cancel", id, url, session);
    expect(cancelled.result).toMatchObject({ taskId: id, status: "cancelled" });
  });

  it.each(["tasks/get", "tasks/result", "tasks/cancel"])(
    "of another user, or a guessed one, is unknown to %s",
    async (method) => {
      const url = `${gateway.url}/mcp`;
      const alice = { ...(await openSession(url, as("alice"))), ...as("alice") };
      const bob = { ...(await openSession(url, as("bob"))), ...as("bob") };
      const id = await createdTask(url, alice);
      const unknown = { code: -32602, message: "Unknown task" };
      expect((await about(method, id, url, bob)).error).toEqual(unknown);
      for (const guess of [id.slice(0, -2), "two_1", ""])
        expect((await about(method, guess, url, alice)).error).toEqual(unknown);
      expect((await about("tasks/get", id, url, alice)).result?.taskId).toBe(id);
    },
  );

  it("is unknown once the rules deny the tool", async () => {
    const url = `${gateway.url}/rules`;
    const session = { ...(await openSession(url, as("alice"))), ...as("alice") };
    const id = await createdTask(url, session);
    expect((await about("tasks/get", id, url, session)).result?.taskId).toBe(id);
    const late = { ...session, "x-late": "yes" };
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"])
      expect((await about(method, id, url, late)).error).toEqual({
        code: -32602,
        message: "Unknown task",
      });
  });
});

async function listed(url: string, headers: Record<string, string>) {
  const message = { jsonrpc: "2.0", id: 1, method: "tasks/list", params: {} };
  const answer = messagesOf(await post(url, message, headers)).at(-1);
  return (answer as { result: { tasks: { taskId: string; status: string }[] } }).result.tasks;
}

describe("a list of tasks", () => {
  it("has the tasks of its session, with the ids that the client knows", async () => {
    const url = `${gateway.url}/mcp`;
    const session = await openSession(url);
    expect(await listed(url, session)).toEqual([]);
    const ids = [await createdTask(url, session), await createdTask(url, session)];
    const tasks = await listed(url, session);
    expect(tasks.map(({ taskId }) => taskId)).toEqual(ids);
    for (const { status } of tasks) expect(status).toMatch(/^[a-z_]+$/);
    await about("tasks/cancel", ids[0] ?? "", url, session);
    expect((await listed(url, session))[0]?.status).toBe("cancelled");
  });

  it("has no tasks of other sessions or users", async () => {
    const url = `${gateway.url}/mcp`;
    const alice = { ...(await openSession(url, as("alice"))), ...as("alice") };
    const bob = { ...(await openSession(url, as("bob"))), ...as("bob") };
    await createdTask(url, alice);
    expect(await listed(url, alice)).toHaveLength(1);
    expect(await listed(url, bob)).toEqual([]);
    expect(await listed(url, { ...(await openSession(url, as("alice"))), ...as("alice") })).toEqual(
      [],
    );
  });

  it("loses the tasks of a tool that rules deny later", async () => {
    const url = `${gateway.url}/rules`;
    const session = { ...(await openSession(url, as("alice"))), ...as("alice") };
    await createdTask(url, session);
    expect(await listed(url, session)).toHaveLength(1);
    expect(await listed(url, { ...session, "x-late": "yes" })).toEqual([]);
  });
});
