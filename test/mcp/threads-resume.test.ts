import { request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { breakDown } from "../harness/fragile-threads.ts";
import type { Gateway } from "../harness/gateway.ts";
import { post } from "./raw-client.ts";
import { startResumable, type Talk } from "./resumable-server.ts";
import {
  child,
  connectionTo,
  requestText,
  type Session,
  sessionOf,
  startThreads,
  threadOf,
} from "./thread-gateway.ts";

const indexes = ["0", "1", "2"];
let gateway: Gateway;
let talks: readonly Talk[];
const at = (path: string) => gateway.url.replace("/mcp", path);

beforeAll(async () => {
  const server = await startResumable();
  talks = server.talks;
  const targets = [{ name: "talker", mcp: { host: server.url } }];
  gateway = await startThreads([
    { name: "open", path: "/open", targets },
    { name: "ruled", path: "/ruled", targets, rules: ['mcp.tool.name == "talk"'] },
    { name: "child", path: "/child", targets: [child] },
  ]);
});

/** Ends a thread, and waits until another one is in its place. */
async function replace(thread: string): Promise<void> {
  const from = gateway.output.length;
  breakDown(gateway, thread);
  await gateway.seen(/another thread serves in its place/, from);
}

/** A real client, each of whose requests goes over a connection of its own, to the thread that is chosen at the time. */
async function startClient(url: string) {
  const [heard, resumedAt]: [unknown[], string[]] = [[], []];
  let thread = "0";
  let cut = () => {};
  const send: typeof fetch = async (_, init) => {
    const { method = "GET", body } = init ?? {};
    const headers = Object.fromEntries(new Headers(init?.headers));
    const { socket } = await connectionTo(url, thread);
    if (headers["last-event-id"] !== undefined) resumedAt.push(thread);
    if (method === "POST") cut = () => socket.destroy();
    return new Promise((resolve, reject) => {
      const request = httpRequest(url, { method, headers, createConnection: () => socket });
      init?.signal?.addEventListener("abort", () => request.destroy());
      request.on("error", reject);
      request.on("response", (response) => {
        const { statusCode: status = 0, headers: fields } = response;
        const hasBody = status !== 202 && status !== 204;
        const stream = Readable.toWeb(response.on("error", () => {})) as ReadableStream;
        resolve(
          new Response(hasBody ? stream : null, {
            status,
            headers: Object.entries(fields).map(([name, value]) => [name, String(value)]),
          }),
        );
      });
      request.end(body);
    });
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: send });
  const client = new Client({ name: "test", version: "1" });
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(params.data);
  });
  await client.connect(transport as Transport);
  onTestFinished(() => client.close());
  return {
    heard,
    /** The threads at which it has resumed a stream. */
    resumedAt,
    owner: threadOf(transport.sessionId),
    useThread: (next: string) => {
      thread = next;
    },
    /** Breaks the call's stream off. */
    cut: () => cut(),
    /** A call, and what the server does of it. */
    call: async () => {
      const { length } = talks;
      const response = client.callTool({ name: "talk", arguments: {} });
      response.catch(() => {});
      await expect.poll(() => talks[length]).toBeDefined();
      return { response, talk: talks[length] as Talk };
    },
  };
}

const done = { content: [{ type: "text", text: "done" }] };

describe.each(["/open", "/ruled"])("a stream of %s that breaks off", (path) => {
  it.each(indexes)(
    "is resumed over thread %s, with all that was said in between",
    async (other) => {
      const client = await startClient(at(path));
      const { response, talk } = await client.call();
      await talk.say("first");
      await expect.poll(() => client.heard).toEqual(["first"]);
      client.useThread(other);
      client.cut();
      await talk.say("in between");
      await expect.poll(() => client.heard).toEqual(["first", "in between"]);
      await talk.say("then");
      await expect.poll(() => client.heard).toEqual(["first", "in between", "then"]);
      talk.end();
      expect(await response).toMatchObject(done);
      expect(client.resumedAt).toContain(other);
    },
  );

  it("is resumed when the thread that the session began at has ended, as its server knows it", async () => {
    const client = await startClient(at(path));
    // The stream is that thread's, and its connection another one's.
    const others = indexes.filter((index) => index !== client.owner);
    const [first = "", second = ""] = others;
    client.useThread(first);
    const { response, talk } = await client.call();
    await talk.say("first");
    await expect.poll(() => client.heard).toEqual(["first"]);
    client.useThread(second);
    await replace(client.owner);
    await talk.say("in between");
    talk.end();
    expect(await response).toMatchObject(done);
    expect(client.heard).toEqual(["first", "in between"]);
    expect(client.resumedAt).toContain(second);
  });
});

describe("a stream that the gateway makes, asked for with the id of an event", () => {
  const get = async (session: Session, thread: string) => {
    const client = await connectionTo(at("/child"), thread);
    const headers = { ...session, "last-event-id": "7" };
    client.send(requestText("/child", headers, "", { method: "GET" }));
    return client;
  };

  it("is a new one, whatever thread has the connection", async () => {
    const session = await sessionOf(at("/child"), "1");
    for (const thread of indexes) {
      const client = await get(session, thread);
      await client.receives(/^HTTP\/1.1 200 /);
      // The child says something of its own accord when it gets this.
      await post(at("/child"), { jsonrpc: "2.0", id: "asked", result: { thread } }, session);
      await client.receives(`"data":{"thread":"${thread}"}`);
      client.socket.destroy();
    }
  });

  it("is a 404 on every thread once the session's has ended, for the client to open another session", async () => {
    const session = await sessionOf(at("/child"), "1");
    await replace("1");
    for (const thread of indexes) {
      const client = await get(session, thread);
      await client.receives(/"message":"Session not found"/);
      expect(client.received).toMatch(/^HTTP\/1.1 404 /);
    }
  });
});
