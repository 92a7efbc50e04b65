import { beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startAskingServer } from "./asking-server.ts";
import { servingTools } from "./many-tools.ts";
import { messagesOf, openSession, post, type RawResponse, send, toolCall } from "./raw-client.ts";
import { type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { as, issuer, keySet } from "./subjects.ts";

let one: RawUpstream;
let two: RawUpstream;
let gateway: Gateway;

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const ping = (id: number | string) => ({ jsonrpc: "2.0", id, method: "ping" });
const cancelled = {
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId: 99 },
};

beforeAll(async () => {
  one = await startUpstream(servingTools("one", [tool("read"), tool("remove")]));
  two = await startUpstream(servingTools("two", [tool("read"), tool("write")]));
  const asking = await startAskingServer();
  const targets = [one, two].map(({ url }, at) => ({
    name: at === 0 ? "one" : "two",
    mcp: { host: url },
  }));
  const [first] = targets;
  const route = (exact: string, mcp: object, policies: object = {}) => ({
    name: exact.slice(1),
    matches: [{ path: { exact } }],
    policies,
    backends: [{ mcp }],
  });
  const rules = [{ deny: 'mcp.tool.name == "remove"' }, { allow: "true" }];
  const secret = { regex: { action: "reject", rules: [{ pattern: "secret" }] } };
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          route("/single", { targets: [first] }),
          route("/merged", { targets }, { mcpAuthorization: { rules } }),
          route("/token", { targets }, { jwtAuth: { issuer, jwks: { inline: keySet } } }),
          route(
            "/limited",
            { targets },
            {
              localRateLimit: [{ maxTokens: 5, tokensPerFill: 1, fillInterval: "1h" }],
            },
          ),
          route("/guarded", { targets }, { mcpGuards: { request: [secret] } }),
          route("/asking", { targets: [{ name: "asking", mcp: { host: asking.url } }] }),
          route("/once", { targets, statefulMode: "stateless" }),
          route(
            "/cors",
            { targets },
            {
              cors: { allowOrigins: ["https://app.example"], allowMethods: ["POST"] },
            },
          ),
        ],
      },
    ],
  });
});

const at = (path: string) => `${gateway.url}${path}`;

/** Sends a batch in a session of its own. */
async function batch(
  path: string,
  messages: readonly unknown[],
  headers: Record<string, string> = {},
): Promise<RawResponse> {
  const session = path === "/once" ? {} : await openSession(at(path), headers);
  return post(at(path), messages, { ...session, ...headers });
}

/** Returns the responses of a batch as `id: text or error`. */
function told({ text }: RawResponse): readonly string[] {
  return JSON.parse(text).map(({ id, result, error }: Record<string, never>) => {
    const called = (result as { content?: { text: string }[] } | undefined)?.content?.[0]?.text;
    const shown = called === undefined ? result : JSON.parse(called).server;
    return `${JSON.stringify(id)}: ${(error as Error | undefined)?.message ?? JSON.stringify(shown)}`;
  });
}

describe("a batch of revision 2025-03-26", () => {
  it.each(["/single", "/merged", "/once"])("at %s is answered in one array", async (path) => {
    const response = await batch(path, [ping(1), cancelled, ping("b")]);
    expect(response.status).toBe(200);
    expect(response.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(response.text)).toHaveLength(2);
    expect(JSON.parse(response.text).map(({ id }: { id: unknown }) => id)).toEqual([1, "b"]);
  });

  it("may call tools of several servers", async () => {
    const calls = [toolCall("two_write", 1), toolCall("one_read", 2), toolCall("two_read", 3)];
    expect(told(await batch("/merged", calls))).toEqual(['1: "two"', '2: "one"', '3: "two"']);
  });

  it("reaches servers as single messages", async () => {
    one.seen.length = 0;
    await batch("/single", [toolCall("read", 1), toolCall("read", 2)]);
    const bodies = one.seen.map(({ text }) => text).filter((text) => text.includes("tools/call"));
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect(body.startsWith("{")).toBe(true);
  });

  it("of notifications and responses only is accepted without a body", async () => {
    const answer = { jsonrpc: "2.0", id: "x", result: {} };
    const response = await batch("/merged", [cancelled, answer]);
    expect([response.status, response.text]).toEqual([202, ""]);
  });

  it("is judged message by message", async () => {
    const calls = [toolCall("one_read", 1), toolCall("one_remove", 2), toolCall("two_write", 3)];
    expect(told(await batch("/merged", calls))).toEqual([
      '1: "one"',
      "2: Unknown tool: one_remove",
      '3: "two"',
    ]);
  });

  it("is limited message by message", async () => {
    // Two of the five requests open the session.
    const calls = [1, 2, 3, 4, 5].map((id) => toolCall("one_read", id));
    const response = await batch("/limited", calls);
    expect(response.status).toBe(200);
    expect(told(response)).toEqual([
      ...['1: "one"', '2: "one"', '3: "one"'],
      ...["4: rate limit exceeded", "5: rate limit exceeded"],
    ]);
    const refused = await post(at("/limited"), [ping(1), cancelled]);
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toMatch(/^\d+$/);
  });

  it("is guarded message by message", async () => {
    const calls = [
      toolCall("one_read", 1, { text: "public" }),
      toolCall("one_read", 2, { text: "a secret" }),
    ];
    const [first, second] = told(await batch("/guarded", calls));
    expect(first).toBe('1: "one"');
    expect(second).toMatch(/^2: .*rejected/);
  });

  it("without a token gets the challenge of its messages", async () => {
    const response = await post(at("/token"), [ping(1), ping(2)]);
    expect(response.status).toBe(401);
    expect(response.headers["www-authenticate"]).toMatch(/^Bearer/);
    const ids = JSON.parse(response.text).map(({ id }: { id: number }) => id);
    expect(ids).toEqual([1, 2]);
  });

  it("is served for the holder of a token", async () => {
    const response = await batch("/token", [toolCall("one_read", 7)], as("alice"));
    expect(told(response)).toEqual(['7: "one"']);
  });

  it("in the session of another user reaches no server", async () => {
    const session = await openSession(at("/token"), as("alice"));
    one.seen.length = 0;
    const stolen = { ...session, ...as("bob") };
    const response = await post(at("/token"), [toolCall("one_read", 1)], stolen);
    expect(response.status).toBe(404);
    expect(one.seen).toEqual([]);
  });

  it("carries questions of a server, which a later request answers", async () => {
    const session = await openSession(at("/asking"));
    const body = JSON.stringify([ping(1), toolCall("ask", 2)]);
    const headers = { ...session, accept: "application/json, text/event-stream" };
    const response = await fetch(at("/asking"), {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    let text = "";
    let isAnswered = false;
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString();
      const question = /data: (.*elicitation\/create.*)\n/.exec(text)?.[1];
      if (question === undefined || isAnswered) continue;
      isAnswered = true;
      const { id } = JSON.parse(question);
      await post(at("/asking"), [{ jsonrpc: "2.0", id, result: { action: "decline" } }], session);
    }
    const messages = text.split("\n").filter((line) => line.startsWith("data: "));
    const ids = messages.map((line) => JSON.parse(line.slice(6))).filter((each) => !each.method);
    expect(ids.map(({ id }) => id).toSorted()).toEqual([1, 2]);
  });

  it("passes the headers for pages of other origins on", async () => {
    const response = await batch("/cors", [ping(1)], { origin: "https://app.example" });
    expect(response.headers["access-control-allow-origin"]).toBe("https://app.example");
    const foreign = await post(at("/cors"), [ping(1)], { origin: "https://evil.example" });
    expect(foreign.status).toBe(403);
  });
});

describe("members of a batch", () => {
  it("that are no messages get an error of their own", async () => {
    const response = await batch("/merged", [
      ping(1),
      7,
      [ping(2)],
      { jsonrpc: "1.0", id: 3, method: "ping" },
      '{"jsonrpc":"2.0","id":4,"method":"ping"}',
      { jsonrpc: "2.0", id: 5, method: "initialize", params: {} },
    ]);
    expect(told(response).map((each) => each.split(":")[0])).toEqual([
      ...["1", "null", "null", "3", "null", "5"],
    ]);
    expect(told(response)[5]).toContain("initialize cannot be part of a batch");
  });

  it("with duplicate keys are refused alone", async () => {
    const session = await openSession(at("/merged"));
    const twice = `{"jsonrpc":"2.0","id":2,"method":"ping","method":"tools/call"}`;
    const response = await post(at("/merged"), `[${JSON.stringify(ping(1))},${twice}]`, session);
    expect(told(response)[1]).toContain("duplicate key");
  });
});

describe("a batch is refused as a whole", () => {
  it.each([
    ["without messages", [], "the batch is empty"],
    ["with more than 64 messages", Array.from({ length: 65 }, (_, id) => ping(id)), "at most 64"],
    ["with one id twice", [ping(1), toolCall("one_read", 1)], "the same id"],
  ])("%s", async (_, messages, why) => {
    one.seen.length = 0;
    const response = await post(at("/merged"), messages, await openSession(at("/merged")));
    expect(response.status).toBe(400);
    expect(response.text).toContain(why);
    expect(one.seen.some(({ text }) => text.includes("tools/call"))).toBe(false);
  });

  it.each([
    ["of another revision", { "mcp-protocol-version": "2025-06-18" }, ""],
    ["that is larger than 128 KiB", {}, "x".repeat(131_072)],
  ])("%s", async (_, headers, text) => {
    const session = { ...(await openSession(at("/merged"))), ...headers };
    const response = await post(at("/merged"), [toolCall("one_read", 1, { text })], session);
    expect(response.status).toBe(400);
    expect(response.text).toContain("only clients of 2025-03-26 may send batches");
  });

  it("if a stateless client sends it", async () => {
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "ping" };
    const response = await post(at("/merged"), [ping(1)], headers);
    expect(response.status).toBe(400);
  });

  it("if it is no JSON", async () => {
    const response = await send(at("/merged"), { body: `[${JSON.stringify(ping(1))},` });
    expect(response.status).toBe(400);
    expect(messagesOf(response)[0]).toMatchObject({ error: { code: -32700 } });
  });
});

it.each(["json", "sse"])("a server of 2025-03-26 may batch its messages (%s)", async (framing) => {
  const list = { tools: [tool("read"), tool("remove")] };
  const server = await startUpstream((response, request, message) => {
    if (message.method !== "tools/list") return servingTools("old", [])(response, request, message);
    const note = { jsonrpc: "2.0", method: "notifications/message", params: { data: "a" } };
    const answer = { jsonrpc: "2.0", id: message.id, result: list };
    const isStream = framing === "sse";
    const body = JSON.stringify(isStream ? [note, answer] : [answer]);
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type });
    response.end(isStream ? `data: ${body}\n\n` : body);
  });
  const target = { name: "old", mcp: { host: server.url } };
  const rules = [{ deny: 'mcp.tool.name == "remove"' }, { allow: "true" }];
  const behind = await startGateway({
    listeners: [
      {
        routes: [
          {
            policies: { mcpAuthorization: { rules } },
            backends: [{ mcp: { targets: [target], prefixMode: "always" } }],
            matches: [{ path: { exact: "/prefixed" } }],
          },
          {
            policies: { mcpAuthorization: { rules } },
            backends: [{ mcp: { targets: [target] } }],
          },
        ],
      },
    ],
  });
  for (const path of ["/mcp", "/prefixed"]) {
    const url = `${behind.url}${path}`;
    const asked = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const last = messagesOf(await post(url, asked, await openSession(url))).at(-1);
    const { result } = last as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name.replace("old_", ""))).toEqual(["read"]);
  }
});

it("each member has a line in the log, and the batch has its size", async () => {
  const before = gateway.output.length;
  const calls = [toolCall("one_read", 1), toolCall("one_remove", 2)];
  await batch("/merged", [...calls, ...Array.from({ length: 6 }, () => cancelled)]);
  await gateway.seen(/mcp\.batch\.size=8/);
  const lines = gateway.output
    .slice(before)
    .split("\n")
    .filter((line) => line.includes("\trequest ") && line.includes("route=merged"));
  const logged = lines.filter((line) => line.includes("mcp.method.name=tools/call"));
  const tools = logged.map((line) => /gen_ai\.tool\.name=(\S+)/.exec(line)?.[1]);
  expect(tools.toSorted()).toEqual(["read", "remove"]);
  const refused = logged.find((line) => line.includes("gen_ai.tool.name=remove"));
  expect(refused).toContain("reason=Authorization");
});
