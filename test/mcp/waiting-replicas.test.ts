import { Redis } from "iovalkey";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { RedisServer } from "../harness/redis.ts";
import { serverScripts, startBothServers } from "./both-servers.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf, openSession, post, toolCall } from "./raw-client.ts";
import { ask } from "./stateless-client.ts";
import { as } from "./subjects.ts";

let replicas: readonly Gateway[];
let redis: RedisServer;
const url = (route: string, replica: number) =>
  replicas[replica]?.url.replace("/mcp", `/${route}`) ?? "";

beforeAll(async () => {
  redis = await RedisServer.start();
  const { sessions, stateless } = await startBothServers();
  const http = { name: "http", mcp: { host: `http://127.0.0.1:${sessions}/mcp` } };
  const args = [serverScripts.sessions, "stdio"];
  const stdio = { name: "stdio", stdio: { cmd: process.execPath, args } };
  const fresh = { name: "new", mcp: { host: `http://127.0.0.1:${stateless}/mcp` } };
  const hasSubjects = true;
  const routes = [
    { name: "http", path: "/http", targets: [http], hasSubjects },
    { name: "stdio", path: "/stdio", targets: [stdio], hasSubjects },
    { name: "mixed", path: "/mixed", targets: [fresh, http], hasSubjects },
    { name: "new", path: "/new", targets: [fresh] },
  ];
  const file = { config: { store: { redis: { url: "${REDIS_URL}" } } }, name: "shop" };
  const env = { SESSION_KEY: "ab".repeat(32), REDIS_URL: redis.url };
  const start = (workerThreads: number) =>
    startMcpGateway(routes, env, {
      file: { ...file, config: { ...file.config, ...(workerThreads > 1 && { workerThreads }) } },
    });
  replicas = await Promise.all([start(1), start(1), start(2)]);
});

const r1 = { action: "accept", content: { username: "ada", email: "a@x.test" } };

function call(route: string, replica: number, params: object, subject = "ada") {
  const name = `${route === "mixed" ? "http_" : ""}test_elicitation`;
  const all = { name, arguments: { message: "m" }, ...params };
  return ask(url(route, replica), "tools/call", all, as(subject)).then((response) =>
    JSON.parse(JSON.stringify(messagesOf(response).at(-1))),
  );
}

describe.each(["http", "stdio", "mixed"])(
  "a call that waits for its client, behind /%s,",
  (route) => {
    it.each([
      [0, 1],
      [1, 2],
      [2, 0],
      [2, 2],
    ])("begins at replica %d and continues at replica %d, once", async (first, second) => {
      const { requestState } = (await call(route, first, {})).result;
      const answer = { requestState, inputResponses: { r1 } };
      expect(JSON.stringify(await call(route, second, answer))).toContain("a@x.test");
      for (const replica of [0, 1, 2])
        expect(await call(route, replica, answer)).toMatchObject({ error: { code: -32602 } });
    });
  },
);

it("asks again through another replica, and continues there", async () => {
  const { requestState } = (await call("http", 0, {})).result;
  const again = (await call("http", 1, { requestState, inputResponses: {} })).result;
  expect(again).toMatchObject({ resultType: "input_required", inputRequests: { r1: {} } });
  const answer = { requestState: again.requestState, inputResponses: { r1 } };
  expect(JSON.stringify(await call("http", 2, answer))).toContain("a@x.test");
});

it("refuses another subject at another replica, and then continues for its own", async () => {
  const { requestState } = (await call("http", 0, {})).result;
  const answer = { requestState, inputResponses: { r1 } };
  expect(await call("http", 1, answer, "bob")).toMatchObject({ error: { code: -32602 } });
  expect(JSON.stringify(await call("http", 1, answer))).toContain("a@x.test");
});

it("passes nothing readable through Redis", async () => {
  const seen: string[] = [];
  const spy = new Redis(redis.url);
  await spy.psubscribe("*");
  spy.on("pmessage", (_pattern, channel, text) => seen.push(`${channel} ${text}`));
  const { requestState } = (await call("http", 0, {})).result;
  await call("http", 1, { requestState, inputResponses: { r1 } });
  expect(await eventually(async () => (seen.length > 2 ? true : null), "messages")).toBe(true);
  spy.disconnect();
  // Short words occur in random base64.
  expect(seen.join("\n")).not.toMatch(/"ada"|a@x\.test|tools\/call/);
});

it("a client with a session answers a server without sessions at another replica", async () => {
  const session = await openSession(url("new", 0), {}, { elicitation: {} });
  const tool = toolCall("test_input_required_result_elicitation");
  const response = await fetch(url("new", 0), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...session,
    },
    body: JSON.stringify(tool),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const seen = async (pattern: RegExp) => {
    for (;;) {
      const found = pattern.exec(text);
      if (found !== null) return found;
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error(`the response ended: ${text}`);
      text += value;
    }
  };
  const [, id] = await seen(/"id":"([\w.-]+)","method":"elicitation\/create"/);
  const answer = { jsonrpc: "2.0", id, result: { action: "accept", content: { name: "ada" } } };
  expect((await post(url("new", 1), answer, session)).status).toBe(202);
  expect((await seen(/Hello, \w+/))[0]).toBe("Hello, ada");
});

it("a call whose replica was killed is refused, and nothing runs twice", async () => {
  const { requestState } = (await call("http", 1, {})).result;
  await replicas[1]?.stop("SIGKILL");
  const refused = await call("http", 0, { requestState, inputResponses: { r1 } });
  expect(refused).toMatchObject({ error: { code: -32602 } });
});
