import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { openSession, post, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, type Response, startUpstream } from "./raw-upstream.ts";

const lists = mcpResponses({
  "tools/list": '{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}',
});

/** Answers everything except tool calls, whose responses never end. */
const hanging =
  (head?: (response: Parameters<Response>[0]) => void): Response =>
  (response, request, message) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return;
    }
    if (message.method === "tools/call") head?.(response);
    else lists(response, request, message);
  };

function route(targets: readonly object[], policies: object): readonly object[] {
  return [{ routes: [{ policies, backends: [{ mcp: { targets } }] }] }];
}

describe("timeout on an MCP route", () => {
  let upstream: RawUpstream;
  beforeAll(async () => {
    upstream = await startUpstream(hanging());
  });

  const target = (name: string) => ({ name, mcp: { host: upstream.url } });
  const policies = { timeout: { requestTimeout: "3s" } };

  /** A starved process may miss the time of the opening itself. */
  const open = (url: string) => eventually(() => openSession(url).catch(() => null), "a session");

  it("a slow tool is a 504 with the request's id and is cancelled at the server", async () => {
    const { url } = await startGateway({ listeners: route([target("one")], policies) });
    const headers = await open(url);
    const response = await post(url, toolCall("a", 7), headers);
    expect(response.status).toBe(504);
    expect(JSON.parse(response.text)).toMatchObject({ id: 7, error: { code: -32603 } });
    await expect.poll(() => upstream.seen.some(({ isLeft }) => isLeft)).toBe(true);
  });

  it("a slow tool behind several servers is a 504", async () => {
    const listeners = route([target("one"), target("two")], policies);
    const { url } = await startGateway({ listeners });
    const headers = await open(url);
    const response = await post(url, toolCall("two_a", 7), headers);
    expect(response.status).toBe(504);
    expect(JSON.parse(response.text)).toMatchObject({ id: 7, error: { code: -32603 } });
  });

  it("a slow tool of a child process is a 504", async () => {
    const script = `
      process.stdin.setEncoding("utf8").on("data", (text) => {
        for (const line of text.split("\\n").filter(Boolean)) {
          const { id, method } = JSON.parse(line);
          if (id === undefined) process.stderr.write("noted " + method + "\\n");
          const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } };
          if (method === "initialize") console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
        }
      });`;
    const stdio = { cmd: process.execPath, args: ["-e", script] };
    const gateway = await startGateway({ listeners: route([{ name: "one", stdio }], policies) });
    const headers = await open(gateway.url);
    expect((await post(gateway.url, toolCall("a", 7), headers)).status).toBe(504);
    await gateway.seen(/noted notifications\/cancelled/);
  });

  it("a response that has begun ends with an error of the request", async () => {
    upstream.response = hanging((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n');
    });
    const { url } = await startGateway({ listeners: route([target("one")], policies) });
    const session = await open(url);
    const response = await eventually(async () => {
      const begun = await post(url, toolCall("a", 7), session);
      // Its beginning was too late in a starved process.
      return begun.status === 504 ? null : begun;
    }, "a response that has begun");
    expect(response.status).toBe(200);
    expect(response.text).toMatch(/"id":7,"error":\{"code":-32603/);
  });

  it("a stream that waits for messages of the server has no limit", async () => {
    const gateway = await startGateway({ listeners: route([target("one")], policies) });
    const headers = { accept: "text/event-stream", ...(await open(gateway.url)) };
    const stream = await fetch(gateway.url, { headers });
    const ended = stream.text().then(
      () => "ended",
      () => "ended",
    );
    const later = new Promise((resolve) => setTimeout(() => resolve("open"), 4_500));
    expect(await Promise.race([ended, later])).toBe("open");
  });
});

describe("hostRewrite on an MCP route", () => {
  it.each([
    ["None", "tools.example.com"],
    ["Auto", undefined],
  ])("%s decides which Host the server sees", async (mode, expected) => {
    const upstream = await startUpstream(lists);
    const targets = [
      { name: "one", mcp: { host: upstream.url } },
      { name: "two", mcp: { host: upstream.url } },
    ];
    for (const several of [targets, targets.slice(1)]) {
      const listeners = route(several, { hostRewrite: { mode } });
      const gateway = await startGateway({ listeners });
      const from = upstream.seen.length;
      await openSession(gateway.url, { host: "tools.example.com" });
      const hosts = upstream.seen.slice(from).map(({ headers }) => headers.host);
      expect(new Set(hosts)).toEqual(new Set([expected ?? new URL(upstream.url).host]));
    }
  });
});
