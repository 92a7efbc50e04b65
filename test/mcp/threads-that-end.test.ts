import { describe, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import { breakDown } from "../harness/fragile-threads.ts";
import { isAlive } from "../harness/is-alive.ts";
import { messagesOf, openSession, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, startUpstream } from "./raw-upstream.ts";
import { child, many, type Session, sessionOf, startThreads, statuses } from "./thread-gateway.ts";

describe("a thread that breaks down", () => {
  it("takes its own sessions and their children along, and leaves the others alone", async () => {
    const gateway = await startThreads([{ name: "mcp", targets: [child] }]);
    const sessions: Session[] = [];
    for (const index of ["0", "1", "2"]) sessions.push(await sessionOf(gateway.url, index));
    const childOf = async (session: Session) =>
      Number(/"text":"(\d+)/.exec((await post(gateway.url, toolCall("pids"), session)).text)?.[1]);
    const children = await Promise.all(sessions.map(childOf));
    const hanging = sessions.map((session) =>
      post(gateway.url, toolCall("hang", "h"), session).then(
        () => "response",
        () => "broken",
      ),
    );
    const active = async () =>
      (await expositionOf(await gateway.statsPort())).value("gwc_requests_active");
    await expect.poll(active).toBe(hanging.length);
    breakDown(gateway, 1);
    await gateway.seen(/a thread has ended/);
    for (const [index, session] of sessions.entries())
      expect(await statuses(gateway.url, session)).toEqual(new Set([index === 1 ? 404 : 200]));
    // While it starts, too, each request has its response.
    const [, lost = {}] = sessions;
    while (!gateway.output.includes("another thread serves in its place"))
      expect(await statuses(gateway.url, lost)).toEqual(new Set([404]));
    for (const [index, session] of sessions.entries())
      expect(await statuses(gateway.url, session)).toEqual(new Set([index === 1 ? 404 : 200]));
    expect(await hanging[1]).toBe("broken");
    await expect
      .poll(() => children.map(isAlive), { timeout: 10_000 })
      .toEqual([true, false, true]);
    const again = await sessionOf(gateway.url, "1");
    expect(await statuses(gateway.url, again)).toEqual(new Set([200]));
    expect(await gateway.stop()).toBe(0);
  });
});

describe("threads that drain", () => {
  it("wait for what they serve for each other, and then end together", async () => {
    const open: (() => void)[] = [];
    const upstream = await startUpstream((response, request, message) => {
      if (message.method !== "tools/call") return mcpResponses({})(response, request, message);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": there\n\n");
      const done = { jsonrpc: "2.0", id: message.id, result: { content: [] } };
      open.push(() => response.end(`data: ${JSON.stringify(done)}\n\n`));
    });
    const targets = ["a", "b"].map((name) => ({ name, mcp: { host: upstream.url } }));
    const gateway = await startThreads([{ name: "mcp", targets }]);
    const session = await openSession(gateway.url);
    const calls = many.map((id) => post(gateway.url, toolCall("a_wait", id), session));
    await expect.poll(() => open.length).toBe(many.length);
    gateway.signal("SIGTERM");
    await gateway.seen(/draining/);
    for (const finish of open) finish();
    for (const response of await Promise.all(calls))
      expect(messagesOf(response).at(-1)).toHaveProperty("result");
    expect(await gateway.exited).toBe(0);
  });

  it("end streams at the deadline, whichever thread has the connection", async () => {
    const gateway = await startThreads([{ name: "mcp", targets: [child] }], {
      CONNECTION_TERMINATION_DEADLINE: "1s",
      CONNECTION_MIN_TERMINATION_DEADLINE: "0s",
    });
    const session = await openSession(gateway.url);
    const calls = many.map((id) => post(gateway.url, toolCall("hang", id), session));
    const streams = [1, 2, 3].map(() => send(gateway.url, { method: "GET", headers: session }));
    await expect
      .poll(async () =>
        (await expositionOf(await gateway.statsPort())).value("gwc_requests_active"),
      )
      .toBe(many.length + 3);
    gateway.signal("SIGTERM");
    for (const response of await Promise.all(calls)) expect(response.text).toContain('"error"');
    for (const { status } of await Promise.all(streams)) expect(status).toBe(200);
    expect(await gateway.exited).toBe(0);
  });
});
