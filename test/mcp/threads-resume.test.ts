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

/** Ends a thread and waits until another one has replaced it. */
async function replace(thread: string): Promise<void> {
  const from = gateway.output.length;
  breakDown(gateway, thread);
  await gateway.seen(/another thread replaces it/, from);
}

/** Starts a real client whose requests use separate connections, to the thread that is chosen at the time. */
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
    /** Aborts the call's stream. */
    cut: () => cut(),
    /** Starts a call and returns the server's side of it. */
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

describe.each(["/open", "/ruled"])("an aborted stream of %s", (path) => {
  it.each(indexes)("is resumed over thread %s, with all messages in between", async (other) => {
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
  });

  it("is resumed when the thread of the session has ended", async () => {
    const client = await startClient(at(path));
    // The stream belongs to that thread, and its connection to another one.
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

describe("a stream of the gateway that is requested with the id of an event", () => {
  const get = async (session: Session, thread: string) => {
    const client = await connectionTo(at("/child"), thread);
    const headers = { ...session, "last-event-id": "7" };
    client.send(requestText("/child", headers, "", { method: "GET" }));
    return client;
  };

  it("is a new one, on whichever thread", async () => {
    const session = await sessionOf(at("/child"), "1");
    for (const thread of indexes) {
      const client = await get(session, thread);
      await client.receives(/^HTTP\/1.1 200 /);
      // The child sends a message on its own when it gets this.
      await post(at("/child"), { jsonrpc: "2.0", id: "asked", result: { thread } }, session);
      await client.receives(`"data":{"thread":"${thread}"}`);
      client.socket.destroy();
    }
  });

  it("is a 404 on every thread once the session's has ended", async () => {
    const session = await sessionOf(at("/child"), "1");
    await replace("1");
    for (const thread of indexes) {
      const client = await get(session, thread);
      await client.receives(/"message":"Session not found"/);
      expect(client.received).toMatch(/^HTTP\/1.1 404 /);
    }
  });
});
