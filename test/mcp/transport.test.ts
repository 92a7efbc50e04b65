import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { initialize, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";

let upstream: RawUpstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream(mcpResponses({ ping: "{}" }));
  const one = { name: "one", mcp: { host: upstream.url } };
  gateway = await startMcpGateway([
    { name: "mcp", targets: [one] },
    { name: "merged", path: "/merged", targets: [one, { ...one, name: "two" }] },
    { name: "web", path: "/web", targets: [one], allowOrigins: ["https://*.example.com"] },
  ]);
});
afterAll(async () => {
  // After each of these requests, the gateway still serves and no refused one has reached the target.
  expect((await post(gateway.url, { jsonrpc: "2.0", id: 1, method: "ping" })).status).toBe(200);
});

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe("the head of a request is refused when", () => {
  const cases: [string, Parameters<typeof send>[1], number][] = [
    ["its method is PUT", { method: "PUT", body: ping }, 405],
    ["a POST accepts JSON only", { body: ping, headers: { accept: "application/json" } }, 406],
    ["a POST accepts nothing", { body: ping, headers: { accept: null } }, 406],
    [
      "a GET does not accept a stream",
      { method: "GET", headers: { accept: "application/json" } },
      406,
    ],
    ["its content is not JSON", { body: ping, headers: { "content-type": "text/plain" } }, 415],
    ["its content has no type", { body: ping, headers: { "content-type": null } }, 415],
    ["its content is compressed", { body: ping, headers: { "content-encoding": "gzip" } }, 415],
    [
      "its revision is unknown",
      { body: ping, headers: { "mcp-protocol-version": "2031-01-01" } },
      400,
    ],
    [
      "it says two revisions",
      { body: ping, headers: { "mcp-protocol-version": ["2025-06-18", "2025-03-26"] } },
      400,
    ],
    ["its session is unknown", { body: ping, headers: { "mcp-session-id": "nobody" } }, 404],
    ["its session is garbage", { body: ping, headers: { "mcp-session-id": "a b/c" } }, 404],
    [
      "its session is very long",
      { body: ping, headers: { "mcp-session-id": "A".repeat(14_000) } },
      404,
    ],
  ];
  it.each(cases)("%s", async (_, request, status) => {
    const before = upstream.seen.length;
    const response = await send(gateway.url, request);
    expect(response.status).toBe(status);
    expect(JSON.parse(response.text)).toMatchObject({ jsonrpc: "2.0", error: {} });
    expect(upstream.seen.length).toBe(before);
  });

  it("a merged route is called without a session", async () => {
    const response = await post(gateway.url.replace("/mcp", "/merged"), ping);
    expect(response.status).toBe(400);
  });
});

describe("a body is refused with 400 when it", () => {
  const cases: [string, string | Buffer][] = [
    ["is empty", ""],
    ["is no JSON", "{"],
    ["has a byte order mark", `\uFEFF${ping}`],
    ["is not UTF-8", Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping\xff"}', "latin1")],
    ["is an empty batch", "[]"],
    ["is a number", "7"],
    ["lacks jsonrpc", '{"id":1,"method":"ping"}'],
    ["is of JSON-RPC 1.0", '{"jsonrpc":"1.0","id":1,"method":"ping"}'],
    ["has a null id", '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
    ["has an object as id", '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ["has a number as method", '{"jsonrpc":"2.0","id":1,"method":5}'],
    ["repeats its method", '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}'],
    [
      "repeats its method in disguise",
      '{"jsonrpc":"2.0","id":1,"method":"ping","m\\u0065thod":"x"}',
    ],
    [
      "says its method in capitals too",
      '{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call"}',
    ],
    ["hides a request in a response", '{"jsonrpc":"2.0","id":1,"result":{},"Method":"tools/call"}'],
    ["says params with a long s", '{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{}}'],
    ["is both result and error", '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}'],
    ["is neither", '{"jsonrpc":"2.0","id":1}'],
  ];
  it.each(cases)("%s", async (_, body) => {
    const before = upstream.seen.length;
    const response = await send(gateway.url, { body });
    expect(response.status).toBe(400);
    expect(JSON.parse(response.text)).toMatchObject({
      jsonrpc: "2.0",
      error: { code: expect.any(Number) },
    });
    expect(upstream.seen.length).toBe(before);
  });
});

describe("a body", () => {
  it("over the limit is a 413, and one just below it passes", async () => {
    const withPadding = (length: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"ping","x":"${"x".repeat(length - 47)}"}`;
    expect((await post(gateway.url, withPadding(2_097_153))).status).toBe(413);
    expect((await post(gateway.url, withPadding(2_097_152))).status).toBe(200);
  });

  it("nested 100,000 deep or with 100,000 keys gets a response", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const keys = Array.from({ length: 100_000 }, (_, i) => `"k${i}":${i}`).join(",");
    for (const params of [`{"x":${deep}}`, `{${keys}}`]) {
      const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`;
      expect((await post(gateway.url, body)).status).toBe(200);
    }
  });
});

describe("a request of a web page", () => {
  const cases: [string, string, Record<string, string>, number][] = [
    [
      "of a rebound name",
      "/mcp",
      { host: "evil.example:80", origin: "http://evil.example:80" },
      403,
    ],
    ["of a foreign origin", "/mcp", { origin: "https://evil.example" }, 403],
    ["without an origin of its own", "/mcp", { origin: "null" }, 403],
    ["of a name that ends in ours", "/mcp", { origin: "http://notlocalhost" }, 403],
    ["of a name that starts with ours", "/mcp", { origin: "http://localhost.evil.example" }, 403],
    ["with a user in its origin", "/mcp", { origin: "http://localhost@evil.example" }, 403],
    [
      "of this machine that rebinds",
      "/mcp",
      { host: "evil.example", origin: "http://localhost" },
      403,
    ],
    ["of this machine", "/mcp", { origin: "http://localhost:5173" }, 200],
    ["of this machine's IPv6 name", "/mcp", { origin: "http://[::1]:8080" }, 200],
    ["of this address", "/mcp", { origin: "http://127.0.0.1" }, 200],
    ["of an origin that CORS allows", "/web", { origin: "https://app.example.com" }, 200],
    ["of one that CORS does not allow", "/web", { origin: "https://example.com" }, 403],
  ];
  it.each(cases)("%s", async (_, path, headers, status) => {
    const response = await post(gateway.url.replace("/mcp", path), initialize, headers);
    expect(response.status).toBe(status);
  });
});

it("a request that is not from a web page may use any name for the gateway", async () => {
  const response = await post(gateway.url, toolCall("x"), { host: "gateway.internal" });
  expect(response.status).toBe(200);
});

it("a listener's own refusals are MCP errors if all of its routes are MCP", async () => {
  const policies = { apiKey: { keys: [{ key: "${KEY}" }] } };
  const tools = {
    backends: [{ mcp: { targets: [{ name: "one", mcp: { host: upstream.url } }] } }],
  };
  const other = {
    backends: [{ host: new URL(upstream.url).host }],
    matches: [{ path: { exact: "/other" } }],
  };
  const { url } = await startGateway({
    env: { KEY: "sesame" },
    listeners: [
      { name: "tools", hostname: "tools.test", policies, routes: [tools] },
      { name: "mixed", hostname: "mixed.test", policies, routes: [tools, other] },
    ],
  });
  const refused = async (host: string) => {
    const { status, body } = await send(url, { body: ping, headers: { host } });
    return [status, body.toString()];
  };
  const message = "api key authentication failure: no API Key found";
  expect(await refused("mixed.test")).toEqual([401, message]);
  const [status, body] = await refused("tools.test");
  expect(status).toBe(401);
  expect(JSON.parse(String(body))).toEqual({
    jsonrpc: "2.0",
    error: { code: -32_000, message },
    id: null,
  });
});
