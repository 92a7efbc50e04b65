import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startHandwritten, startMcpGateway } from "./mcp-gateway.ts";
import { initialize, messagesOf, openSession, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, type Response, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";
import { ask, connectStateless } from "./stateless-client.ts";

let good: RawUpstream;
let bad: RawUpstream;
let gateway: Gateway;

const inputSchema = { type: "object" };
const listing = (...tools: readonly object[]): Response =>
  mcpResponses({
    "tools/list": JSON.stringify({ tools }),
    "tools/call": '{"content":[{"type":"text","text":"done"}]}',
  });

/** Answers a method with an HTTP status, and other methods as usual. */
function refusing(
  method: string,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body = "refused",
): Response {
  const usual = listing({ name: "b", inputSchema });
  return (response, request, message) => {
    if (message.method !== method) usual(response, request, message);
    else response.writeHead(status, headers).end(body);
  };
}

beforeAll(async () => {
  good = await startUpstream(listing());
  bad = await startUpstream(listing());
  const targets = [
    { name: "good", mcp: { host: good.url } },
    { name: "bad", mcp: { host: bad.url } },
  ];
  gateway = await startMcpGateway([
    { name: "merged", targets },
    { name: "open", path: "/open", targets, failureMode: "failOpen" },
    { name: "single", path: "/single", targets: [{ name: "bad", mcp: { host: bad.url } }] },
  ]);
});
beforeEach(() => {
  good.response = listing({ name: "a", inputSchema });
  bad.response = listing({ name: "b", inputSchema });
  bad.seen.length = 0;
});

const url = (path: string) => gateway.url.replace("/mcp", path);
const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const errorOf = (text: string) => JSON.parse(text).error;

describe("tools that client libraries refuse", () => {
  const malformed = [
    { name: "none" },
    { name: "odd", inputSchema: { type: "array" } },
    { name: "b", inputSchema, description: "again" },
    { name: "described", inputSchema, description: null },
  ];
  beforeEach(() => {
    bad.response = listing({ name: "b", inputSchema }, ...malformed);
  });

  it("are omitted from merged lists for clients with sessions", async () => {
    const client = await connectSession(gateway.url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["good_a", "bad_b"]);
    await client.close();
  });

  it("are omitted from merged lists for clients without sessions", async () => {
    const client = await connectStateless(gateway.url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["good_a", "bad_b"]);
    await client.close();
  });

  it("are logged with their names and reasons", async () => {
    await gateway.seen(
      /MCP server bad: "none" is omitted from tools, because inputSchema is missing/,
    );
    await gateway.seen(/"b" is omitted from tools, because the server lists this name twice/);
  });

  it("are counted", async () => {
    const text = (await expositionOf(await gateway.statsPort())).text;
    expect(text).toMatch(
      /gwc_mcp_omitted_items_total\{route="merged",target="bad",list="tools"\} \d+/,
    );
  });
});

it("a tool whose name is too long for models, prefix included, is listed with a warning", async () => {
  const name = "x".repeat(61);
  bad.response = listing({ name, inputSchema });
  const response = await post(gateway.url, list, await openSession(gateway.url));
  expect(response.text).toContain(`"bad_${name}"`);
  await gateway.seen(/MCP server bad: "x+" may be refused by models/);
});

describe.each(["sessions", "stateless"])("a call of a client of the era of %s", (era) => {
  const call = async (name = "bad_b") => {
    if (era === "stateless") return ask(gateway.url, "tools/call", { name, arguments: {} });
    return post(gateway.url, toolCall(name), await openSession(gateway.url));
  };

  it("keeps the status and Retry-After of a server that limits its rate", async () => {
    bad.response = refusing("tools/call", 429, { "retry-after": "7" });
    const response = await call();
    expect(response.status).toBe(429);
    expect(response.headers["retry-after"]).toBe("7");
    expect(errorOf(response.text).message).toBe('MCP server "bad" answered with HTTP status 429');
  });

  it("keeps the challenge of a server that needs credentials", async () => {
    const challenge = 'Bearer resource_metadata="https://a.example/m"';
    bad.response = refusing("tools/call", 401, { "www-authenticate": challenge });
    const response = await call();
    expect(response.status).toBe(401);
    expect(response.headers["www-authenticate"]).toBe(challenge);
  });

  it("keeps the JSON-RPC error in the body", async () => {
    const body = '{"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":"out of paper"}}';
    bad.response = refusing("tools/call", 500, { "content-type": "application/json" }, body);
    const response = await call();
    expect(response.status).toBe(500);
    expect(errorOf(response.text)).toEqual({ code: -32050, message: "out of paper" });
  });

  it("does not show a status that is about the gateway's request", async () => {
    bad.response = refusing("tools/call", 415);
    const response = await call();
    expect(response.status).toBe(502);
    expect(errorOf(response.text).message).toBe('MCP server "bad" answered with HTTP status 415');
  });
});

it("initialize names the server that fails, with its status and challenge", async () => {
  bad.response = refusing("initialize", 403, { "www-authenticate": "Bearer" });
  const response = await post(gateway.url, initialize);
  expect(response.status).toBe(403);
  expect(response.headers["www-authenticate"]).toBe("Bearer");
  expect(errorOf(response.text).message).toBe('MCP server "bad" answered with HTTP status 403');
});

it("a list names the server that fails", async () => {
  bad.response = refusing("tools/list", 503, { "retry-after": "3" });
  const response = await post(gateway.url, list, await openSession(gateway.url));
  expect(response.status).toBe(503);
  expect(response.headers["retry-after"]).toBe("3");
  expect(errorOf(response.text).message).toBe('MCP server "bad" answered with HTTP status 503');
});

it.each([
  ["initialize", "application/json"],
  ["tools/list", "Application/JSON; charset=utf-8"],
])("%s has the JSON-RPC error of the server (%s)", async (method, type) => {
  const error = { code: -32050, message: "out of paper" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error });
  const session = method === "initialize" ? {} : await openSession(gateway.url);
  bad.response = refusing(method, 500, { "content-type": type }, body);
  const asked = method === "initialize" ? initialize : list;
  const response = await post(gateway.url, asked, session);
  expect(response.status).toBe(500);
  const message = 'MCP server "bad" answered with HTTP status 500';
  expect(errorOf(response.text)).toEqual({ code: -32603, message, data: { error } });
});

it.each(["initialize", "tools/list", "tools/call"])(
  "a server that answers %s with 404 in a new session is named, and no session is lost",
  async (method) => {
    const session = method === "initialize" ? {} : await openSession(gateway.url);
    bad.response = refusing(method, 404);
    const asked =
      method === "initialize" ? initialize : method === "tools/list" ? list : toolCall("bad_b");
    const response = await post(gateway.url, asked, session);
    expect(response.status).toBe(502);
    expect(errorOf(response.text).message).toBe('MCP server "bad" answered with HTTP status 404');
  },
);

it("lists name the server that failed when the session was opened with failOpen", async () => {
  bad.response = refusing("initialize", 500);
  const session = await openSession(url("/open"));
  bad.response = listing({ name: "b", inputSchema });
  const { result } = JSON.parse((await post(url("/open"), list, session)).text);
  expect(result._meta).toEqual({ "gwc.dev/unavailable": ["bad"] });
});

it("a byte order mark before a response is ignored, as client libraries do", async () => {
  const session = await openSession(gateway.url);
  const usual = listing({ name: "b", inputSchema });
  bad.response = (response, request, message) => {
    if (message.method !== "tools/list") return usual(response, request, message);
    const result = { tools: [{ name: "b", inputSchema }] };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`\ufeff${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}`);
  };
  expect((await post(gateway.url, list, session)).text).toContain("bad_b");
});

it("a failure of one server does not hide the tools of others with failOpen", async () => {
  bad.response = refusing("tools/list", 500);
  const response = await post(url("/open"), list, await openSession(url("/open")));
  const { result } = JSON.parse(response.text);
  expect(result.tools).toEqual([{ name: "good_a", inputSchema }]);
  expect(result._meta).toEqual({ "gwc.dev/unavailable": ["bad"] });
  expect((await expositionOf(await gateway.statsPort())).text).toMatch(
    /gwc_mcp_target_failures_total\{route="open",target="bad",kind="status"\} [1-9]/,
  );
});

it.each(["/mcp", "/single"])(
  "a session that a server has forgotten with 400 is reopened on %s",
  async (path) => {
    const session = await openSession(url(path));
    let isForgotten = true;
    const usual = listing({ name: "b", inputSchema });
    bad.response = (response, request, message) => {
      if (message.method === "initialize") isForgotten = false;
      if (isForgotten) {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(
          '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}',
        );
      } else usual(response, request, message);
    };
    const response = await post(url(path), toolCall(path === "/mcp" ? "bad_b" : "b"), session);
    expect(response.status).toBe(200);
    expect(response.text).toContain("done");
  },
);

it.each(["/mcp", "/single"])("a 400 about something else is not retried on %s", async (path) => {
  const session = await openSession(url(path));
  bad.response = refusing("tools/call", 400, {}, "no such tool");
  bad.seen.length = 0;
  await post(url(path), toolCall(path === "/mcp" ? "bad_b" : "b"), session);
  expect(bad.seen.filter(({ text }) => text.includes("tools/call"))).toHaveLength(1);
});

it.each(["/mcp", "/single"])(
  "an event stream without its last blank line is read on %s",
  async (path) => {
    const session = await openSession(url(path));
    bad.response = (response, _, message) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const body = { jsonrpc: "2.0", id: message.id, result: { content: [] } };
      response.end(`event: message\ndata: ${JSON.stringify(body)}\n`);
    };
    const response = await post(url(path), toolCall(path === "/mcp" ? "bad_b" : "b"), session);
    expect(messagesOf(response)).toMatchObject([{ result: { content: [] } }]);
    if (path === "/single") expect(response.text.endsWith("\n\n")).toBe(true);
  },
);

it("comments keep an idle stream of the only server open", async () => {
  bad.response = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": begin\n\n");
  };
  const idle = await startHandwritten({
    routes: [
      {
        name: "idle",
        targets: [{ name: "bad", era: "sessions", mcp: { host: bad.url } }],
        timeouts: { keepAlive: 50 },
      },
    ],
  });
  const body = JSON.stringify(toolCall("b"));
  const { text } = await send(idle.url, { body, leaveAfter: ": begin\n\n".length + 1 });
  expect(text).toContain(": keep-alive\n\n");
});
