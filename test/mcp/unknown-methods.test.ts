import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { messagesOf, openSession, post } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { as } from "./subjects.ts";

let upstream: RawUpstream;
let gateway: Gateway;

const results = { ping: "{}", "admin/shutdown": "{}", "acme/search": "{}", "acme/index": "{}" };

beforeAll(async () => {
  upstream = await startUpstream(mcpResponses(results));
  const one = { name: "one", mcp: { host: upstream.url } };
  const named = [
    'mcp.tool.name == "echo"',
    'jwt.sub == "alice" && mcp.methodName in ["acme/search", "acme/index"]',
    { deny: 'mcp.methodName == "acme/index"' },
  ];
  gateway = await startMcpGateway([
    { name: "open", targets: [one] },
    { name: "ruled", path: "/ruled", targets: [one], rules: ['mcp.tool.name == "echo"'] },
    {
      name: "denying",
      path: "/denying",
      targets: [one],
      rules: [{ deny: 'mcp.tool.name == "x"' }],
    },
    { name: "named", path: "/named", targets: [one], rules: named, hasSubjects: true },
  ]);
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const at = (path: string) => gateway.url.replace("/mcp", path);
const request = (method: string) => ({ jsonrpc: "2.0", id: 7, method });
const reached = (method: string) => upstream.seen.some(({ text }) => text.includes(`"${method}"`));
const unknown = { jsonrpc: "2.0", id: 7, error: { code: -32601, message: "Method not found" } };

describe.each(["/ruled", "/denying"])("an MCP route with rules (%s)", (path) => {
  it("refuses a method that MCP does not define", async () => {
    const session = await openSession(at(path));
    const response = await post(at(path), request("admin/shutdown"), session);
    expect(messagesOf(response)).toEqual([unknown]);
    expect(reached("admin/shutdown")).toBe(false);
  });

  it("refuses a notification that MCP does not define", async () => {
    const session = await openSession(at(path));
    const notification = { jsonrpc: "2.0", method: "notifications/shutdown" };
    expect((await post(at(path), notification, session)).status).toBe(400);
    expect(reached("notifications/shutdown")).toBe(false);
  });

  it("passes the methods of MCP that name no item", async () => {
    const session = await openSession(at(path));
    expect((await post(at(path), request("ping"), session)).text).toContain('"result"');
    expect(reached("ping")).toBe(true);
    expect(reached("notifications/initialized")).toBe(true);
  });
});

describe("a method that rules name", () => {
  it("passes only for callers whom they allow", async () => {
    const alice = await openSession(at("/named"), as("alice"));
    const response = await post(at("/named"), request("acme/search"), alice);
    expect(response.text).toContain('"result"');
    const bob = await openSession(at("/named"), as("bob"));
    upstream.seen.length = 0;
    expect(messagesOf(await post(at("/named"), request("acme/search"), bob))).toEqual([unknown]);
    expect(reached("acme/search")).toBe(false);
  });

  it("does not pass if a rule denies it", async () => {
    const alice = await openSession(at("/named"), as("alice"));
    const response = await post(at("/named"), request("acme/index"), alice);
    expect(messagesOf(response)).toEqual([unknown]);
  });
});

it("an unknown method reaches the target of a route without rules", async () => {
  const session = await openSession(gateway.url);
  expect((await post(gateway.url, request("admin/shutdown"), session)).text).toContain('"result"');
});
