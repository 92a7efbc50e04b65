import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { isAlive } from "../harness/is-alive.ts";
import { RedisServer } from "../harness/redis.ts";
import { everythingRoutes } from "./everything-routes.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { openSession, post, send, toolCall } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";
import { as } from "./subjects.ts";
import { child, type Session } from "./thread-gateway.ts";

let replicas: readonly Gateway[];
let redis: RedisServer;
/** A server of revision 2026-07-28 that does not respond to calls of "hang". */
let stateless: RawUpstream;

/** URL of a route at a replica. */
function at(replica: number, path: string): string {
  return replicas[replica]?.url.replace("/mcp", path) ?? "";
}

const SESSION_KEY = "ab".repeat(32);

/** A tool whose output is an object, although its schema is not that of one. */
const either = {
  name: "either",
  inputSchema: { type: "object" },
  outputSchema: { anyOf: [{ type: "object" }, { type: "null" }] },
};

const statelessResults: Readonly<Record<string, object>> = {
  "server/discover": { capabilities: { tools: {}, logging: {}, resources: { subscribe: true } } },
  "tools/list": { tools: [either], ttlMs: 0, cacheScope: "private" },
  "tools/call": { content: [], structuredContent: { is: "object" } },
};

beforeAll(async () => {
  redis = await RedisServer.start();
  stateless = await startUpstream((response, { text }, { id, method }) => {
    if (text.includes('"hang"') || method === "subscriptions/listen") return;
    const isOld = method === "initialize";
    const error = { code: -32022, message: "x", data: { supported: ["2026-07-28"] } };
    const result = { resultType: "complete", ...statelessResults[String(method)] };
    response.writeHead(isOld ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(isOld ? { error } : { result }) }));
  });
  const env = { SESSION_KEY, REDIS_URL: redis.url };
  const own = { name: "child", path: "/child", targets: [child], hasSubjects: true };
  const fresh = { name: "new", mcp: { host: stateless.url } };
  const routes = [
    ...(await everythingRoutes()),
    own,
    { name: "new", path: "/new", targets: [fresh] },
    { name: "mixed", path: "/mixed", targets: [child, fresh] },
  ];
  const start = (more: object = {}) => {
    const config = { store: { redis: { url: "${REDIS_URL}" } }, ...more };
    return startMcpGateway(routes, env, { file: { name: "shop", config } });
  };
  replicas = await Promise.all([start(), start(), start({ workerThreads: 2 })]);
});

/** Sends each request to the next replica. */
function roundRobin(): typeof fetch {
  let sent = 0;
  return (url, init) => {
    const { pathname } = new URL(String(url));
    sent += 1;
    return fetch(at(sent % replicas.length, pathname), init);
  };
}

const childOf = async (url: string, session: Session) =>
  Number(/"text":"(\d+)/.exec((await post(url, toolCall("pids"), session)).text)?.[1]);

describe("a session whose requests reach any replica, of a client of", () => {
  it.each([
    ["/sse", ""],
    ["/stdio", ""],
    ["/all", "stdio_"],
    ["/all", "http_"],
    ["/all", "sse_"],
  ])("%s finds the tools %j, answers questions, and ends everywhere", async (path, prefix) => {
    const client = await connectSession(at(0, path), undefined, roundRobin());
    const logged: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      logged.push(params);
    });
    const call = async (name: string, args: Readonly<Record<string, unknown>> = {}) =>
      JSON.stringify(await client.callTool({ name: prefix + name, arguments: args }));
    const echoed = Array.from({ length: 12 }, (_, n) => call("echo", { message: `message ${n}` }));
    for (const [n, text] of (await Promise.all(echoed)).entries())
      expect(text).toContain(`Echo: message ${n}"`);
    const large = "x".repeat(1_000_000);
    expect(await call("echo", { message: large })).toContain(large);
    const progress: number[] = [];
    const long = { name: `${prefix}trigger-long-running-operation` };
    await client.callTool({ ...long, arguments: { duration: 0.3, steps: 3 } }, undefined, {
      onprogress: (step) => progress.push(step.progress),
    });
    expect(progress).toEqual([1, 2, 3]);
    for (let n = 0; n < 3; n++)
      expect(await call("trigger-sampling-request", { prompt: "hi" })).toContain("sampled");
    await call("toggle-simulated-logging");
    await expect.poll(() => logged.length).toBeGreaterThan(0);
    const { transport } = client;
    if (!(transport instanceof StreamableHTTPClientTransport)) throw new Error("another transport");
    const session = { "mcp-session-id": transport.sessionId ?? "" };
    await transport.terminateSession();
    await client.close();
    const tool = path === "/all" ? "stdio_echo" : "echo";
    for (const replica of [0, 1, 2])
      await eventually(async () => {
        const { status } = await post(at(replica, path), toolCall(tool), session);
        return status === 404 ? true : null;
      }, "the end of the session");
  });
});

/** Cancels the request "h" at a replica until its call has ended. */
async function cancelAt(replica: number, path: string, session: Session, call: Promise<unknown>) {
  const cancelled = { method: "notifications/cancelled", params: { requestId: "h" } };
  const end = call.then(() => true);
  await eventually(async () => {
    const { status } = await post(at(replica, path), { jsonrpc: "2.0", ...cancelled }, session);
    expect(status).toBe(202);
    return Promise.race([end, new Promise<null>((resolve) => setTimeout(resolve, 100, null))]);
  }, "the end of the call");
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

/** Waits until a replica does not know a session any more. */
async function forgets(replica: number, path: string, session: Session): Promise<void> {
  await eventually(async () => {
    const { status } = await post(at(replica, path), ping, session);
    return status === 404 ? true : null;
  }, "the end of the session");
}

describe.each(["/http", "/pair", "/new"])("a session of HTTP servers, at %s,", (path) => {
  it("is unknown to every replica once a client has ended it at one", async () => {
    const session = await openSession(at(0, path));
    const other = await openSession(at(0, path));
    for (const replica of [1, 2])
      expect((await post(at(replica, path), ping, session)).status).toBe(200);
    const { status } = await send(at(0, path), { method: "DELETE", headers: session });
    expect(status).toBeLessThan(300);
    for (const replica of [0, 1, 2]) await forgets(replica, path, session);
    for (const replica of [0, 1, 2])
      expect((await post(at(replica, path), ping, other)).status).toBe(200);
  });

  it("is unknown to a replica that has never seen it", async () => {
    const session = await openSession(at(0, path));
    await send(at(0, path), { method: "DELETE", headers: session });
    await forgets(1, path, session);
  });
});

describe("a session with a server without sessions", () => {
  const asked = (method: string) =>
    stateless.seen.findLast(({ text }) => text.includes(`"${method}"`))?.text ?? "";
  const request = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });

  it("has its log level at every replica", async () => {
    const session = await openSession(at(0, "/new"));
    for (const [from, level] of [
      [0, "warning"],
      [1, "debug"],
    ] as const) {
      const set = request("logging/setLevel", { level });
      expect((await post(at(from, "/new"), set, session)).status).toBe(200);
      await eventually(async () => {
        const levels = [];
        for (const replica of [0, 1, 2]) {
          await post(at(replica, "/new"), toolCall("either"), session);
          levels.push(asked("tools/call").includes(`"${level}"`));
        }
        return levels.every((isSet) => isSet) ? true : null;
      }, "the level of the calls");
    }
  });

  it("wraps the output of listed tools at every replica", async () => {
    const session = await openSession(at(0, "/new"));
    await post(at(1, "/new"), request("tools/list", {}), session);
    await eventually(async () => {
      const outputs = [];
      for (const replica of [0, 1, 2])
        outputs.push((await post(at(replica, "/new"), toolCall("either"), session)).text);
      const isWrapped = (text: string) =>
        text.includes('"structuredContent":{"result":{"is":"object"}}');
      return outputs.every(isWrapped) ? true : null;
    }, "wrapped output");
  });

  it("delivers at one replica what was subscribed to at another", async () => {
    const session = await openSession(at(0, "/new"));
    const stream = await fetch(at(0, "/new"), {
      headers: { accept: "text/event-stream", ...session },
    });
    expect(stream.status).toBe(200);
    const isListening = (uri: string, isWanted: boolean) =>
      eventually(async () => {
        for (const replica of [0, 1, 2]) await post(at(replica, "/new"), ping, session);
        return asked("subscriptions/listen").includes(uri) === isWanted ? true : null;
      }, "the subscription");
    await eventually(() => (asked("subscriptions/listen") === "" ? null : true), "the stream");
    await post(at(1, "/new"), request("resources/subscribe", { uri: "x://one" }), session);
    await isListening("x://one", true);
    await post(at(2, "/new"), request("resources/subscribe", { uri: "x://two" }), session);
    await isListening("x://two", true);
    await isListening("x://one", true);
    await post(at(1, "/new"), request("resources/unsubscribe", { uri: "x://one" }), session);
    await isListening("x://one", false);
    await send(at(1, "/new"), { method: "DELETE", headers: session });
    await stream.text();
  });
});

it("a stream of a session ends if a client ends the session at another replica", async () => {
  const session = await openSession(at(0, "/pair"));
  const stream = await fetch(at(1, "/pair"), {
    headers: { accept: "text/event-stream", ...session },
  });
  expect(stream.status).toBe(200);
  await send(at(2, "/pair"), { method: "DELETE", headers: session });
  await stream.text();
});

describe("a session of another replica", () => {
  it("has one child, which any replica ends", async () => {
    const session = await openSession(at(0, "/child"));
    const pid = await childOf(at(0, "/child"), session);
    for (const replica of [1, 2, 1])
      expect(await childOf(at(replica, "/child"), session)).toBe(pid);
    expect((await send(at(1, "/child"), { method: "DELETE", headers: session })).status).toBe(204);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("cancels a call wherever the cancellation arrives", async () => {
    const session = await openSession(at(2, "/child"));
    const hanging = post(at(0, "/child"), toolCall("hang", "h"), session);
    await cancelAt(1, "/child", session, hanging);
    expect((await post(at(1, "/child"), toolCall("echo-id", "h"), session)).status).toBe(200);
  });

  it.each([
    ["/new", "hang"],
    ["/mixed", "new_hang"],
  ])(
    "%s cancels a call to a server without sessions wherever the cancellation arrives",
    async (path, tool) => {
      const session = await openSession(at(2, path));
      const call = () => stateless.seen.findLast(({ text }) => text.includes('"tools/call"'));
      const before = call();
      const hanging = post(at(0, path), toolCall(tool, "h"), session);
      await eventually(() => (call() === before ? null : true), "the call at the server");
      await cancelAt(1, path, session, hanging);
      await expect.poll(() => call()?.isLeft).toBe(true);
    },
  );

  it("is for its own subject only", async () => {
    const session = await openSession(at(0, "/child"), as("ada"));
    const stolen = { ...session, ...as("bob") };
    expect((await post(at(1, "/child"), toolCall("pids"), stolen)).status).toBe(404);
    expect((await post(at(1, "/child"), toolCall("pids"), session)).status).toBe(200);
  });

  it("is not found if its child has died", async () => {
    const session = await openSession(at(0, "/child"));
    process.kill(await childOf(at(1, "/child"), session), "SIGKILL");
    await eventually(async () => {
      const { status } = await post(at(1, "/child"), toolCall("pids"), session);
      return status === 404 ? true : null;
    }, "the end of the session");
  });

  it("is not found if its replica was killed", async () => {
    const session = await openSession(at(1, "/child"));
    expect((await post(at(0, "/child"), toolCall("pids"), session)).status).toBe(200);
    await replicas[1]?.stop("SIGKILL");
    for (let n = 0; n < 2; n++) {
      const { status, text } = await post(at(0, "/child"), toolCall("pids"), session);
      expect([status, text]).toEqual([404, expect.stringContaining("Session not found")]);
    }
  });
});

it("a session that was ended while the store was away is unknown to others when it is back", async () => {
  const session = await openSession(at(0, "/pair"));
  expect((await post(at(2, "/pair"), ping, session)).status).toBe(200);
  await redis.kill();
  expect((await send(at(0, "/pair"), { method: "DELETE", headers: session })).status).toBe(204);
  expect((await post(at(0, "/pair"), ping, session)).status).toBe(404);
  expect((await post(at(2, "/pair"), ping, session)).status).toBe(200);
  await redis.start();
  await forgets(2, "/pair", session);
});
