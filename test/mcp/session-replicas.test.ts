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
import { connectSession } from "./session-client.ts";
import { as } from "./subjects.ts";
import { child, type Session } from "./thread-gateway.ts";

let replicas: readonly Gateway[];

/** URL of a route at a replica. */
function at(replica: number, path: string): string {
  return replicas[replica]?.url.replace("/mcp", path) ?? "";
}

const SESSION_KEY = "ab".repeat(32);

beforeAll(async () => {
  const env = { SESSION_KEY, REDIS_URL: (await RedisServer.start()).url };
  const own = { name: "child", path: "/child", targets: [child], hasSubjects: true };
  const routes = [...(await everythingRoutes()), own];
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
    const cancelled = {
      ...{ jsonrpc: "2.0", method: "notifications/cancelled" },
      params: { requestId: "h" },
    };
    const end = hanging.then(() => true);
    await eventually(async () => {
      expect((await post(at(1, "/child"), cancelled, session)).status).toBe(202);
      return Promise.race([end, new Promise<null>((resolve) => setTimeout(resolve, 100, null))]);
    }, "the end of the call");
    expect((await post(at(1, "/child"), toolCall("echo-id", "h"), session)).status).toBe(200);
  });

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
