import { randomBytes } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { settled } from "../harness/settled.ts";
import { nowhere, startRoutes } from "./routes.ts";

let gateway: Gateway;
let upstream: Scripted;
let mirror: Scripted;
let isMirrorSilent = false;

beforeAll(async () => {
  upstream = await startScripted((response, _count, { url }) => {
    response.statusCode =
      url === "/retried" && response.req.headers["x-retry-attempt"] === undefined ? 503 : 200;
    response.end("upstream");
  });
  const server = await startScripted((response, _count, { body }) => {
    const { id, method } = JSON.parse(body.toString());
    const result = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      serverInfo: { name: "server", version: "1" },
    };
    const completion = { object: "chat.completion", choices: [] };
    response.writeHead(200, json);
    response.end(
      JSON.stringify(method === undefined ? completion : { jsonrpc: "2.0", id, result }),
    );
  });
  mirror = await startScripted((response) => {
    if (!isMirrorSilent) response.writeHead(500).end("mirror");
  });
  const backends = [{ host: upstream.host }];
  const backend = { host: mirror.host };
  gateway = await startRoutes(
    {
      all: { policies: { requestMirror: { backend } }, backends },
      half: { policies: { requestMirror: { backend, percentage: 0.5 } }, backends },
      none: { policies: { requestMirror: { backend, percentage: 0 } }, backends },
      down: { policies: { requestMirror: { backend: { host: "127.0.0.1:1" } } }, backends },
      mcp: {
        policies: { requestMirror: { backend } },
        backends: [
          { mcp: { targets: [{ name: "t", mcp: { host: `http://${server.host}/mcp` } }] } },
        ],
      },
      llm: {
        policies: { requestMirror: { backend }, ai: { routes: { "/llm": "completions" } } },
        backends: [
          { ai: { name: "a", hostOverride: server.host, provider: { openAI: { model: "m" } } } },
        ],
      },
      retried: {
        policies: { requestMirror: { backend }, retry: { attempts: 1, codes: [503] } },
        backends,
      },
      rewritten: {
        policies: {
          requestMirror: { backend },
          urlRewrite: { path: { full: "/new" }, authority: { full: "new.example" } },
          requestHeaderModifier: { set: { "x-team": "blue" } },
        },
        backends,
      },
    },
    nowhere,
  );
});

beforeEach(() => {
  upstream.received.length = 0;
  mirror.received.length = 0;
  isMirrorSilent = false;
});

const json = { "content-type": "application/json" };
const messages = {
  mcp: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  }),
  llm: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }),
};

/** The copies of requests to a path. Those of earlier tests may still arrive. */
const copies = (path: string) => mirror.received.filter(({ url }) => url === path);

/** Waits for the first copy of requests to a path. */
function mirrored(path: string): Promise<Received> {
  return eventually(() => copies(path)[0] ?? null, `a copy of ${path}`);
}

describe("requestMirror", () => {
  it("a copy with its body goes to the other backend, whose response is ignored", async () => {
    for (const size of [0, 10, 16_385, 200_000]) {
      const path = `/all/x?q=${size}`;
      const body = randomBytes(size);
      const response = await send(`${gateway.url}${path}`, "POST", { "x-a": "1" }, body);
      expect(response).toMatchObject({ status: 200, body: "upstream" });
      const copy = await mirrored(path);
      expect(copy).toMatchObject({ method: "POST", headers: { "x-a": "1" } });
      expect(copy.body.equals(body)).toBe(true);
      expect(upstream.received.at(-1)?.body.equals(body)).toBe(true);
    }
  });

  it("the copy equals what the backend gets", async () => {
    await send(`${gateway.url}/rewritten`, "GET");
    expect(await mirrored("/new")).toMatchObject({
      headers: { host: "new.example", "x-team": "blue" },
    });
  });

  it("messages to MCP servers and models are copied as the client sent them", async () => {
    for (const [route, headers] of [
      ["mcp", { accept: "application/json, text/event-stream" }],
      ["llm", {}],
    ] as const) {
      const target = `${gateway.url}/${route}`;
      const body = Buffer.from(messages[route]);
      const { status } = await send(target, "POST", { ...headers, ...json }, body);
      expect({ route, status }).toEqual({ route, status: 200 });
      const copy = await mirrored(`/${route}`);
      expect(copy.method).toBe("POST");
      expect(copy.body.equals(body)).toBe(true);
    }
  });

  it("a share of the requests is copied", async () => {
    for (let count = 0; count < 100; count++) await send(`${gateway.url}/half`, "GET");
    await send(`${gateway.url}/all/first`, "GET");
    await mirrored("/all/first");
    // 100 throws of a fair coin: outside once in 10 million runs.
    const copied = await settled(() => copies("/half").length);
    expect(copied).toBeGreaterThan(23);
    expect(copied).toBeLessThan(77);
    for (let count = 0; count < 20; count++) await send(`${gateway.url}/none`, "GET");
    await send(`${gateway.url}/all/last`, "GET");
    await mirrored("/all/last");
    expect(copies("/none")).toHaveLength(0);
  });

  it("a mirror that is down or silent changes nothing", async () => {
    const body = randomBytes(300_000);
    expect((await send(`${gateway.url}/down`, "POST", {}, body)).status).toBe(200);
    isMirrorSilent = true;
    expect((await send(`${gateway.url}/all`, "POST", {}, body)).status).toBe(200);
    expect(upstream.received.every((each) => each.body.equals(body))).toBe(true);
  });

  it("a retried request is copied once", async () => {
    const body = randomBytes(30_000);
    const response = await send(`${gateway.url}/retried`, "POST", {}, body);
    expect(response.status).toBe(200);
    await mirrored("/retried");
    expect(upstream.received.map((each) => each.body.equals(body))).toEqual([true, true]);
    expect(copies("/retried").map((each) => each.body.equals(body))).toEqual([true]);
  });
});
