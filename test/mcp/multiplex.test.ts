import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { roundTripsUntil } from "../harness/round-trips.ts";
import { startHandwritten } from "./mcp-gateway.ts";
import { initialize, messagesOf, openSession, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, type Response, startUpstream } from "./raw-upstream.ts";

let one: RawUpstream;
let two: RawUpstream;
let gateway: Gateway;

/** Serves a list in two pages. */
function paged(names: readonly string[]): Response {
  return (response, request, message) => {
    const params = message.params as { cursor?: string } | undefined;
    const isLast = params?.cursor !== undefined;
    const tools = `[{"name":"${isLast ? names[1] : names[0]}","inputSchema":{"type":"object"},"x":1.0}]`;
    mcpResponses({
      ...results,
      "tools/list": isLast
        ? `{"tools":${tools}}`
        : `{"tools":${tools},"nextCursor":"after-${names[0]}"}`,
    })(response, request, message);
  };
}

const results = {
  initialize: JSON.stringify({
    protocolVersion: "2025-06-18",
    capabilities: {
      tools: {},
      prompts: {},
      resources: { subscribe: true },
      logging: {},
      tasks: {},
    },
    serverInfo: { name: "x", version: "1" },
    instructions: "Use it well.",
  }),
  ping: "{}",
  "logging/setLevel": "{}",
  "tools/call":
    '{"content":[{"type":"resource_link","uri":"a://b","n":1.0},{"type":"resource","resource":{"uri":"c://d","text":"a://b"}}]}',
  "prompts/get":
    '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"e://f"}}}]}',
  "resources/read": '{"contents":[{"uri":"a://b","text":"t"}]}',
  "resources/subscribe": "{}",
  "completion/complete": '{"completion":{"values":[]}}',
};

beforeAll(async () => {
  one = await startUpstream(paged(["a", "b"]));
  two = await startUpstream(paged(["c", "d"]));
  const targets = [
    { name: "one", mcp: { host: one.url } },
    { name: "two", mcp: { host: two.url } },
  ];
  const failOpen = { targets, failureMode: "failOpen" } as const;
  // Longer than a starved process takes, because the other server must respond in time.
  const timeouts = { initialize: 5000, fanOut: 5000 };
  gateway = await startHandwritten({
    routes: [
      { name: "mcp", targets },
      { name: "open", path: "/open", ...failOpen },
      { name: "hasty", path: "/hasty", targets, timeouts },
      { name: "hasty-open", path: "/hasty-open", ...failOpen, timeouts },
    ],
  });
});
beforeEach(() => {
  one.response = paged(["a", "b"]);
  two.response = paged(["c", "d"]);
  one.seen.length = 0;
  two.seen.length = 0;
});

const at = (path: string) => gateway.url.replace("/mcp", path);
const open = () => at("/open");
const rpc = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 1, method, params });
const resultOf = (response: { readonly text: string }) => JSON.parse(response.text).result;

it("initialize merges the revisions, capabilities and instructions", async () => {
  two.response = mcpResponses({
    initialize: JSON.stringify({
      protocolVersion: "2025-03-26",
      capabilities: { completions: {} },
    }),
  });
  const result = resultOf(await post(gateway.url, initialize));
  expect(result.protocolVersion).toBe("2025-03-26");
  expect(result.serverInfo.name).toBe("gwc");
  expect(result.instructions).toContain("Use it well.");
  expect(Object.keys(result.capabilities).sort()).toEqual([
    "completions",
    "logging",
    "prompts",
    "resources",
    "tools",
  ]);
});

it("each target gets its negotiated revision", async () => {
  two.response = mcpResponses({
    ...results,
    initialize: '{"protocolVersion":"2025-03-26","capabilities":{}}',
  });
  const session = await openSession(gateway.url);
  await post(gateway.url, rpc("ping"), { ...session, "mcp-protocol-version": "2025-03-26" });
  expect(one.seen.at(-1)?.headers["mcp-protocol-version"]).toBe("2025-06-18");
  expect(two.seen.at(-1)?.headers["mcp-protocol-version"]).toBe("2025-03-26");
});

it("lists are merged page by page; only names of entries change", async () => {
  const session = await openSession(gateway.url);
  const first = await post(gateway.url, rpc("tools/list"), session);
  expect(first.text).toContain(
    '[{"name":"one_a","inputSchema":{"type":"object"},"x":1.0},{"name":"two_c","inputSchema":{"type":"object"},"x":1.0}]',
  );
  const cursor: string = resultOf(first).nextCursor;
  const second = await post(gateway.url, rpc("tools/list", { cursor }), session);
  expect(second.text).toContain(
    '[{"name":"one_b","inputSchema":{"type":"object"},"x":1.0},{"name":"two_d","inputSchema":{"type":"object"},"x":1.0}]',
  );
  expect(resultOf(second).nextCursor).toBeUndefined();
  expect(one.seen.at(-1)?.text).toContain('"cursor":"after-a"');
});

it("a target whose list has ended is not called again", async () => {
  two.response = mcpResponses({ ...results, "tools/list": '{"tools":[]}' });
  const session = await openSession(gateway.url);
  const { nextCursor: cursor } = resultOf(await post(gateway.url, rpc("tools/list"), session));
  two.seen.length = 0;
  await post(gateway.url, rpc("tools/list", { cursor }), session);
  expect(two.seen.length).toBe(0);
});

it("a cursor that the gateway has not issued is refused", async () => {
  const session = await openSession(gateway.url);
  for (const cursor of ["after-a", "e30", Buffer.from('[["x",1]]').toString("base64url")]) {
    const response = await post(gateway.url, rpc("tools/list", { cursor }), session);
    expect(JSON.parse(response.text).error).toEqual({ code: -32602, message: "Invalid cursor" });
  }
});

it("a call goes to one target, under its own name, and resources in the response can be read", async () => {
  const session = await openSession(gateway.url);
  one.seen.length = 0;
  const response = await post(gateway.url, toolCall("two_c_d", 9), session);
  expect(JSON.parse(two.seen.at(-1)?.text ?? "")).toEqual(toolCall("c_d", 9));
  expect(one.seen.length).toBe(0);
  expect(response.text).toBe(
    '{"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"resource_link","uri":"two+a://b","n":1.0},{"type":"resource","resource":{"uri":"two+c://d","text":"a://b"}}]}}',
  );
});

it("resources, prompts and completion are routed by their prefix", async () => {
  const session = await openSession(gateway.url);
  const read = await post(gateway.url, rpc("resources/read", { uri: "two+a://b" }), session);
  expect(two.seen.at(-1)?.text).toContain('"uri":"a://b"');
  expect(resultOf(read).contents[0].uri).toBe("two+a://b");
  await post(gateway.url, rpc("resources/subscribe", { uri: "one+a://b" }), session);
  expect(one.seen.at(-1)?.text).toContain('"uri":"a://b"');
  const prompt = await post(gateway.url, rpc("prompts/get", { name: "one_p" }), session);
  expect(resultOf(prompt).messages[0].content.resource.uri).toBe("one+e://f");
  const ref = { type: "ref/resource", uri: "two+a://{x}" };
  await post(gateway.url, rpc("completion/complete", { ref, argument: {} }), session);
  expect(two.seen.at(-1)?.text).toContain('"uri":"a://{x}"');
});

it("unknown items and methods without a route are refused", async () => {
  const session = await openSession(gateway.url);
  const unknown = await post(gateway.url, toolCall("three_c"), session);
  expect(JSON.parse(unknown.text).error).toEqual({
    code: -32602,
    message: "Unknown tool: three_c",
  });
  const odd = await post(gateway.url, rpc("things/list"), session);
  expect(JSON.parse(odd.text).error.code).toBe(-32601);
});

it("ping, log levels and notifications go to every target", async () => {
  const session = await openSession(gateway.url);
  for (const [message, status] of [
    [rpc("ping"), 200],
    [rpc("logging/setLevel", { level: "info" }), 200],
    [{ jsonrpc: "2.0", method: "notifications/roots/list_changed" }, 202],
  ] as const) {
    expect((await post(gateway.url, message, session)).status).toBe(status);
    expect(one.seen.at(-1)?.text).toBe(JSON.stringify(message));
    expect(two.seen.at(-1)?.text).toBe(JSON.stringify(message));
  }
});

describe("requests of two servers with the same id", () => {
  const ask =
    '{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"_meta":{"progressToken":7}}}';
  beforeEach(() => {
    for (const [upstream, base] of [
      [one, paged(["a", "b"])],
      [two, paged(["c", "d"])],
    ] as const) {
      upstream.response = (response, request, message) => {
        if (request.method !== "GET") return base(response, request, message);
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`data: ${ask}\n\n`);
      };
    }
  });

  it("reach the client with different ids, and each response reaches its own server", async () => {
    const session = await openSession(gateway.url);
    const stream = await fetch(gateway.url, {
      headers: { ...session, accept: "text/event-stream" },
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (text.split("\n\n").length < 3) text += (await reader?.read())?.value ?? "";
    const ids = [...text.matchAll(/"id":("[^"]*")/g)].map((match) => match[1] ?? "");
    expect(new Set(ids).size).toBe(2);
    const id = ids.find((candidate) => candidate.includes("gwc-1:"));
    await post(gateway.url, `{"jsonrpc":"2.0","id":${id},"result":{"roots":[],"n":1.0}}`, session);
    expect(two.seen.at(-1)?.text).toBe('{"jsonrpc":"2.0","id":1,"result":{"roots":[],"n":1.0}}');
    expect(one.seen.some((request) => request.text.includes("roots"))).toBe(false);
    const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"gwc-0:7","progress":1}}`;
    await post(gateway.url, progress, session);
    expect(one.seen.at(-1)?.text).toContain('"progressToken":7,');
    await send(gateway.url, { method: "DELETE", headers: session });
    await reader?.cancel();
  });

  it("are not answered by an id that no server has used", async () => {
    const session = await openSession(gateway.url);
    const before = one.seen.length + two.seen.length;
    for (const id of ["1", '"gwc-7:1"', '"gwc-0:"', '"gwc-0:{}"', '"gwc-x:1"']) {
      const response = await post(gateway.url, `{"jsonrpc":"2.0","id":${id},"result":{}}`, session);
      expect(response.status).toBe(202);
    }
    expect(one.seen.length + two.seen.length).toBe(before);
  });
});

describe("a target that is down", () => {
  /** Failures by name, with the first part of the paths whose timeouts suit them. */
  const failing: [string, Response, string][] = [
    ["refuses", (response) => void response.writeHead(500).end(), "/"],
    ["hangs", () => {}, "/hasty-"],
    [
      "responses rubbish",
      (response) => void response.writeHead(200, { "content-type": "application/json" }).end("{"),
      "/",
    ],
  ];

  it.each(failing)("fails initialize under failClosed when it %s", async (_, response, path) => {
    two.response = response;
    const url = path === "/" ? gateway.url : at("/hasty");
    expect((await post(url, initialize)).status).toBeGreaterThanOrEqual(500);
  });

  it("leaves no session at the others when it fails initialize", async () => {
    two.response = failing[0]?.[1] ?? two.response;
    await post(gateway.url, initialize);
    await expect.poll(() => one.seen.at(-1)?.method).toBe("DELETE");
    expect(one.seen.at(-1)?.headers["mcp-session-id"]).toMatch(/^upstream-/);
  });

  it("does not delay notifications beyond the deadline", async () => {
    const session = await openSession(at("/hasty"));
    two.response = () => {};
    const notice = { jsonrpc: "2.0", method: "notifications/roots/list_changed" };
    expect((await post(at("/hasty"), notice, session)).status).toBe(202);
  });

  it.each(failing)(
    "is excluded under failOpen when it %s, which the client sees",
    async (_, response, path) => {
      two.response = response;
      const url = at(`${path}open`);
      const opened = await post(url, initialize);
      expect(resultOf(opened)._meta).toEqual({ "gwc.dev/unavailable": ["two"] });
      const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
      const list = await post(url, rpc("tools/list"), session);
      expect(resultOf(list).tools).toEqual([
        { name: "one_a", inputSchema: { type: "object" }, x: 1 },
      ]);
      expect((await post(url, toolCall("two_c"), session)).status).toBe(503);
      expect((await post(url, toolCall("one_a"), session)).status).toBe(200);
    },
  );

  it.each(failing)(
    "is later excluded from lists under failOpen when it %s",
    async (_, response, path) => {
      const url = at(`${path}open`);
      const session = await openSession(url);
      two.response = response;
      const result = resultOf(await post(url, rpc("tools/list"), session));
      expect(result.tools).toEqual([{ name: "one_a", inputSchema: { type: "object" }, x: 1 }]);
      expect(result._meta).toEqual({ "gwc.dev/unavailable": ["two"] });
      expect(await openSession(url)).toBeDefined();
    },
  );

  it("later fails lists under failClosed", async () => {
    const session = await openSession(gateway.url);
    two.response = failing[0]?.[1] ?? two.response;
    expect((await post(gateway.url, rpc("tools/list"), session)).status).toBe(500);
  });

  it("is an error when it is the last one, even under failOpen", async () => {
    one.response = failing[0]?.[1] ?? one.response;
    two.response = failing[0]?.[1] ?? two.response;
    expect((await post(open(), initialize)).status).toBe(500);
  });

  it("is ignored for lists that it does not have", async () => {
    two.response = mcpResponses({ initialize: results.initialize });
    const session = await openSession(gateway.url);
    expect(resultOf(await post(gateway.url, rpc("tools/list"), session)).tools.length).toBe(1);
  });
});

it("a stream that a server closes early is resumed without the client noticing", async () => {
  const base = paged(["a", "b"]);
  one.response = (response, request, message) => {
    if (message.method === "tools/call") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end("id: 41\nretry: 10\ndata: \n\n");
    } else if (request.headers["last-event-id"] === "41") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end('id: 42\ndata: {"jsonrpc":"2.0","id":6,"result":{"content":[]}}\n\n');
    } else base(response, request, message);
  };
  const session = await openSession(gateway.url);
  const response = await post(gateway.url, toolCall("one_a", 6), session);
  expect(messagesOf(response)).toEqual([{ jsonrpc: "2.0", id: 6, result: { content: [] } }]);
});

it("a GET stream is a 405 when no target has one", async () => {
  const session = await openSession(gateway.url);
  expect((await send(gateway.url, { method: "GET", headers: session })).status).toBe(405);
});

it("a client that disconnects aborts its call at the target", async () => {
  const base = paged(["a", "b"]);
  one.response = (response, request, message) => {
    if (message.method !== "tools/call") return base(response, request, message);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n');
  };
  const session = await openSession(gateway.url);
  const body = JSON.stringify(toolCall("one_a"));
  for (let number = 0; number < 5; number++) {
    await send(gateway.url, { headers: session, body, leaveAfter: 5 });
    const call = one.seen.at(-1);
    const others = await roundTripsUntil(
      () => call?.isLeft === true,
      () => fetch(gateway.url, { method: "PUT" }),
    );
    expect(others).toBeLessThan(20);
  }
});
