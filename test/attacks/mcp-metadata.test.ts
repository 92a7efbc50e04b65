import { beforeEach, describe, expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";

/** Requests that reached the target, by request line. */
let reached: string[] = [];

beforeEach(() => {
  reached = [];
});

/** MCP routes without a token policy, whose target is its own resource server. */
async function start(policies: object, matches?: readonly object[]) {
  const target = await startUpstream((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    response.end(`{"path":"${request.url}"}`);
  });
  const mcp = { targets: [{ name: "t", mcp: { host: `${target}/mcp` } }] };
  const routes = [{ ...(matches ? { matches } : {}), policies, backends: [{ mcp }] }];
  return startGateway({ listeners: [{ routes }] });
}

async function status(port: number, path: string, fields = "", method = "GET"): Promise<number> {
  const client = new RawClient(port);
  client.send(`${method} ${path} HTTP/1.1\r\nHost: a.test\r\n${fields}Connection: close\r\n\r\n`);
  await client.closes();
  return Number(client.received.slice(9, 12));
}

const metadata = "/.well-known/oauth-protected-resource";

describe("an MCP route without a token policy", () => {
  it("passes the two metadata documents of its own paths on, and nothing else", async () => {
    const { port } = await start({}, [
      { path: { pathPrefix: "/mcp" } },
      { path: { pathPrefix: "/.well-known" } },
    ]);
    const passed = [
      metadata,
      `${metadata}/mcp`,
      `${metadata}/mcp/x?y=1`,
      "/.well-known/oauth-authorization-server/mcp",
    ];
    for (const path of passed) expect([path, await status(port, path)]).toEqual([path, 200]);
    expect(reached).toEqual(passed.map((path) => `GET ${path}`));
    reached = [];
    for (const path of [
      "/.well-known/..\\admin",
      "/.well-known/%2e%2e/admin",
      "/.well-known/../admin",
      "/.well-known/anything",
      "/.well-known/openid-configuration",
      `${metadata}/..\\..\\admin`,
      `${metadata}/%2e%2e/%2e%2e/admin`,
      `${metadata}/mcp/../../admin`,
      `${metadata}/mcp/..;/admin`,
      `${metadata}//admin`,
      `${metadata}s`,
      `${metadata}/other`,
    ]) {
      expect([path, await status(port, path)]).not.toEqual([path, 200]);
    }
    expect(await status(port, metadata, "", "PUT")).toBe(405);
    expect(reached).toEqual([]);
  });

  it("asks its rules before it passes metadata on", async () => {
    const { port } = await start({
      authorization: { rules: [{ deny: 'request.method == "GET"' }] },
    });
    expect(await status(port, `${metadata}/mcp`)).toBe(403);
    expect(reached).toEqual([]);
  });

  it("counts requests for metadata against its limits", async () => {
    const { port } = await start({
      localRateLimit: [{ maxTokens: 1, tokensPerFill: 1, fillInterval: "1h" }],
    });
    expect(await status(port, metadata)).toBe(200);
    expect(await status(port, metadata)).toBe(429);
    expect(reached).toHaveLength(1);
  });

  it("refuses pages of other origins that ask for metadata", async () => {
    const { port } = await start({});
    expect(await status(port, metadata, "Origin: https://evil.test\r\n")).toBe(403);
    expect(reached).toEqual([]);
  });
});
