import { connect } from "node:http2";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { expositionOf } from "../harness/exposition.ts";
import { breakDown } from "../harness/fragile-threads.ts";
import type { Gateway } from "../harness/gateway.ts";
import { isAlive } from "../harness/is-alive.ts";
import { bytesTaken, bytesUnread } from "../harness/kernel-queues.ts";
import { settled } from "../harness/settled.ts";
import { initialize, messagesOf, openSession, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import {
  child,
  connectionTo,
  many,
  requestText,
  type Session,
  sessionOf,
  startThreads,
  statuses,
} from "./thread-gateway.ts";

describe("a thread that breaks down", () => {
  it("ends only its own sessions and their children", async () => {
    const gateway = await startThreads([{ name: "mcp", targets: [child] }]);
    const sessions: Session[] = [];
    for (const index of ["0", "1", "2"]) sessions.push(await sessionOf(gateway.url, index));
    const childOf = async (session: Session) =>
      Number(/"text":"(\d+)/.exec((await post(gateway.url, toolCall("pids"), session)).text)?.[1]);
    const children = await Promise.all(sessions.map(childOf));
    const hanging = sessions.map((session) =>
      post(gateway.url, toolCall("hang", "h"), session).then(
        ({ status }) => status,
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
    // While it starts, each request still gets a response.
    const [, lost = {}] = sessions;
    while (!gateway.output.includes("another thread replaces it"))
      expect(await statuses(gateway.url, lost)).toEqual(new Set([404]));
    for (const [index, session] of sessions.entries())
      expect(await statuses(gateway.url, session)).toEqual(new Set([index === 1 ? 404 : 200]));
    // Its own connections are gone, too.
    expect(["broken", 500]).toContain(await hanging[1]);
    await expect.poll(() => children.map(isAlive)).toEqual([true, false, true]);
    const again = await sessionOf(gateway.url, "1");
    expect(await statuses(gateway.url, again)).toEqual(new Set([200]));
    expect(await gateway.stop()).toBe(0);
  });
});

describe("a request whose thread breaks down while another one has its connection", () => {
  let gateway: Gateway;
  let upstream: RawUpstream;
  let session: Session;
  let from: number;

  beforeAll(async () => {
    upstream = await startUpstream((response, request, message) => {
      if (message.method !== "tools/call") return mcpResponses({})(response, request, message);
      if (request.text.includes('"silent"')) return;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": begun\n\n");
    });
    const http = { name: "http", mcp: { host: upstream.url } };
    gateway = await startThreads([
      { name: "http", path: "/http", targets: [http] },
      { name: "child", path: "/child", targets: [child] },
    ]);
  });

  const at = (path: string) => gateway.url.replace("/mcp", path);
  /** Ends the thread with the sessions and waits until another one has replaced it. */
  const breakIt = async () => {
    breakDown(gateway, 1);
    await gateway.seen(/another thread replaces it/, from);
  };
  const lineOf = async (port: number | undefined) => {
    const line = new RegExp(`^(?!.*initialize).*src.addr=127.0.0.1:${port} .*`, "m");
    const [text] = await gateway.seen(line, from);
    expect(gateway.output.slice(from).match(new RegExp(line, "gm"))).toHaveLength(1);
    return text;
  };
  const lost =
    '{"jsonrpc":"2.0","error":{"code":-32603,"message":"The gateway lost this request; it may have been executed"},"id":null}';

  beforeEach(async () => {
    session = await sessionOf(at("/http"), "1");
    from = gateway.output.length;
  });

  it("gets an error, is logged, and its connection serves the next one", async () => {
    const client = await connectionTo(at("/http"), "0");
    from = gateway.output.length;
    client.send(requestText("/http", session, JSON.stringify(toolCall("silent"))));
    await expect.poll(() => upstream.seen.at(-1)?.text).toContain("silent");
    await breakIt();
    await client.receives(lost);
    expect(client.received).toMatch(/^HTTP\/1.1 500 /);
    expect(await lineOf(client.socket.localPort)).toMatch(
      /http.method=POST http.host=x http.path=\/http .* http.status=500 reason=Internal duration=/,
    );
    const { text } = await expositionOf(await gateway.statsPort());
    expect(text).toMatch(/^gwc_requests_total\{.*status="500",reason="Internal"\} 1$/m);
    client.send(requestText("/http", session, '{"jsonrpc":"2.0","id":2,"method":"ping"}'));
    await client.receives(/"id":2/);
  });

  it("gets the error in the middle of its body, whose rest is ignored", async () => {
    const client = await connectionTo(at("/http"), "0");
    from = gateway.output.length;
    const body = JSON.stringify(toolCall("silent", 1, { text: "x".repeat(500_000) }));
    const text = requestText("/http", session, body);
    client.send(text.slice(0, -10));
    // The other thread has read more than its own one can buffer.
    await expect.poll(() => bytesTaken(client.socket)).toBe(client.socket.bytesWritten);
    await breakIt();
    await client.receives(lost);
    expect(await lineOf(client.socket.localPort)).toContain("http.status=500 reason=Internal");
    client.send(text.slice(-10));
    client.send(requestText("/http", session, '{"jsonrpc":"2.0","id":2,"method":"ping"}'));
    await client.receives(/"id":2/);
  });

  it("is aborted when its response has begun, which is logged", async () => {
    const client = await connectionTo(at("/http"), "0");
    from = gateway.output.length;
    const { localPort } = client.socket;
    client.send(requestText("/http", session, JSON.stringify(toolCall("begun"))));
    await client.receives(": begun");
    await breakIt();
    await client.closes();
    expect(client.received).not.toContain("\n0\r\n\r\n");
    expect(await lineOf(localPort)).toContain("http.status=200 reason=Internal");
  });

  it("gets its complete response if that was written", async () => {
    const size = 20_000_000;
    const huge = await sessionOf(at("/child"), "1");
    const client = await connectionTo(at("/child"), "0");
    from = gateway.output.length;
    client.socket.pause();
    client.send(requestText("/child", huge, JSON.stringify(toolCall("huge", 1, { size }))));
    // All of it is on the thread of the connection, whose client reads nothing.
    await settled(() => bytesUnread(client.socket));
    await breakIt();
    client.socket.resume();
    await eventually(() => client.received.length > size || null, "the response");
    expect(client.received).toContain("x".repeat(size));
    expect(await lineOf(client.socket.localPort)).toMatch(/http.status=200 duration=/);
  });

  it("gets the error over HTTP/2 as well", async () => {
    for (;;) {
      const client = connect(at(""));
      const call = (headers: Session, message: object) =>
        new Promise<{ status: unknown; id: unknown; text: string }>((resolve, reject) => {
          client.on("error", reject);
          const stream = client.request({
            ":method": "POST",
            ":path": "/http",
            accept: "application/json, text/event-stream",
            "content-type": "application/json",
            ...headers,
          });
          let [status, id]: unknown[] = [];
          let text = "";
          stream.setEncoding("utf8");
          stream.on("response", (fields) => {
            status = fields[":status"];
            id = fields["mcp-session-id"];
          });
          stream.on("data", (chunk: string) => {
            text += chunk;
          });
          stream.on("close", () => resolve({ status, id, text }));
          stream.end(JSON.stringify(message));
        });
      const { id } = await call({}, initialize);
      if (String(id).endsWith(".1")) {
        client.close();
        continue;
      }
      const asked = call(session, toolCall("silent", "h2"));
      await expect.poll(() => upstream.seen.at(-1)?.text).toContain('"h2"');
      await breakIt();
      expect(await asked).toMatchObject({ status: 500, text: lost });
      client.close();
      return;
    }
  });
});

describe("threads that drain", () => {
  it("wait for the requests that they serve for each other, and then end together", async () => {
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
