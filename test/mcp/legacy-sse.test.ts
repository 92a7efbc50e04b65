import type { ServerResponse } from "node:http";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { initialize, openSession, post, send } from "./raw-client.ts";
import { type RawUpstream, type Response, startUpstream } from "./raw-upstream.ts";

let upstream: RawUpstream;
let gateway: Gateway;
let stream: ServerResponse | undefined;
/** The data of the `endpoint` event. */
let endpoint = "/messages?sessionId=s1";

/** Serves revision 2024-11-05: responses arrive on the stream. */
const legacy: Response = (response, request, message) => {
  if (request.method === "GET") {
    stream = response;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
    return;
  }
  if (message.method === "refused") return void response.writeHead(400).end("no");
  response.writeHead(202).end("Accepted");
  if (message.id === undefined || message.method === "hang") return;
  const result =
    message.method === "initialize"
      ? '{"protocolVersion":"2024-11-05","capabilities":{}}'
      : '{"n":1.0}';
  stream?.write(
    `event: message\ndata: {"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}\n\n`,
  );
};

beforeAll(async () => {
  upstream = await startUpstream(legacy);
  const host = upstream.url.replace("/mcp", "/a/sse");
  gateway = await startMcpGateway([
    { name: "mcp", targets: [{ name: "old", sse: { host } }] },
    {
      name: "down",
      path: "/down",
      targets: [{ name: "old", sse: { host: "http://127.0.0.1:1/sse" } }],
    },
  ]);
});
beforeEach(() => {
  upstream.response = legacy;
  upstream.seen.length = 0;
  endpoint = "/messages?sessionId=s1";
});

const ping = { jsonrpc: "2.0", id: "p", method: "ping" };

it("a session is one stream, and messages go to its endpoint", async () => {
  const session = await openSession(gateway.url);
  const response = await post(gateway.url, ping, session);
  expect(response.headers["content-type"]).toBe("application/json");
  expect(response.text).toBe('{"jsonrpc":"2.0","id":"p","result":{"n":1.0}}');
  expect(upstream.seen.map(({ method, target }) => `${method} ${target}`)).toEqual([
    "GET /a/sse",
    "POST /messages?sessionId=s1",
    "POST /messages?sessionId=s1",
    "POST /messages?sessionId=s1",
  ]);
});

it.each(["http://127.0.0.1:9/messages", "//evil.example/x", "http://", "file:///etc/passwd"])(
  "an endpoint elsewhere (%s) is not followed",
  async (elsewhere) => {
    endpoint = elsewhere;
    const response = await post(gateway.url, initialize);
    expect(response.status).toBe(502);
    expect(upstream.seen.filter(({ method }) => method === "POST")).toEqual([]);
  },
);

it("an endpoint that is relative or a URL of the same server is followed", async () => {
  for (const [given, target] of [
    [`${new URL(upstream.url).origin}/full?x=1`, "/full?x=1"],
    ["messages", "/a/messages"],
  ] as const) {
    endpoint = given;
    await openSession(gateway.url);
    expect(upstream.seen.at(-1)?.target).toBe(target);
  }
});

it("a message that the server refuses fails alone", async () => {
  const session = await openSession(gateway.url);
  const response = await post(gateway.url, { jsonrpc: "2.0", id: 3, method: "refused" }, session);
  expect(response.status).toBe(502);
  expect(JSON.parse(response.text)).toMatchObject({ id: 3, error: { code: -32603 } });
  expect((await post(gateway.url, ping, session)).status).toBe(200);
});

it("a stream that ends fails the calls in flight", async () => {
  const session = await openSession(gateway.url);
  const hanging = post(gateway.url, { jsonrpc: "2.0", id: 4, method: "hang" }, session);
  await expect.poll(() => upstream.seen.at(-1)?.text).toContain("hang");
  stream?.end();
  expect((await hanging).status).toBe(502);
  expect((await post(gateway.url, ping, session)).status).toBe(404);
});

it("the stream is closed with the session", async () => {
  const session = await openSession(gateway.url);
  const opened = upstream.seen[0];
  await send(gateway.url, { method: "DELETE", headers: session });
  await expect.poll(() => opened?.isLeft).toBe(true);
});

it("a server that is down is a 503", async () => {
  expect((await post(gateway.url.replace("/mcp", "/down"), initialize)).status).toBe(503);
});

it("a session belongs to the credentials that opened its stream", async () => {
  const session = await openSession(gateway.url, { authorization: "Bearer a" });
  expect(upstream.seen[0]?.headers.authorization).toBe("Bearer a");
  expect((await post(gateway.url, ping, { ...session, authorization: "Bearer b" })).status).toBe(
    404,
  );
  expect((await post(gateway.url, ping, session)).status).toBe(200);
});
