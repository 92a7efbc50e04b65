import { createServer, get } from "node:http";
import { json } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { collecting, leftBehind } from "../harness/left-behind.ts";
import { listen } from "../harness/listen.ts";

const count = 100;
/** The first one warms the gateway up. */
const ROUNDS = 5;
/** Bytes of what makes each request long. */
const long = "x".repeat(16_000);

it("what a closed connection was used for does not wait for a collection of the whole heap", async () => {
  const { host } = new URL((await startEcho()).url);
  const gateway = await startGateway({
    listeners: [{ name: "http", routes: [{ name: "all", backends: [{ host }] }] }],
    env: collecting,
  });
  const ask = () =>
    new Promise((resolve, reject) => {
      const headers = { "x-long": long };
      get({ port: gateway.port, host: "127.0.0.1", agent: false, headers }, (response) => {
        response.resume().on("close", resolve);
      }).on("error", reject);
    });
  expect(await leastLeftBehind(gateway, ask)).toBeLessThan(4_000);
});

it("nor does a call in an MCP session", async () => {
  const server = createServer(async (request, response) => {
    const { id } = Object(await json(request));
    response.setHeader("content-type", "application/json").setHeader("mcp-session-id", "session");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
  });
  const host = `http://127.0.0.1:${await listen(server)}/mcp`;
  const targets = [{ name: "one", mcp: { host } }];
  const gateway = await startGateway({
    listeners: [{ name: "http", routes: [{ name: "tools", backends: [{ mcp: { targets } }] }] }],
    env: collecting,
  });
  const post = async (method: string, headers: Record<string, string>) => {
    const response = await fetch(`${gateway.url}/mcp`, {
      method: "POST",
      headers: {
        ...{ accept: "application/json, text/event-stream", "content-type": "application/json" },
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { name: "echo" } }),
    });
    expect(response.status).toBe(200);
    await response.text();
    return response.headers.get("mcp-session-id") ?? "";
  };
  const session = { "mcp-session-id": await post("initialize", {}) };
  const call = () => post("tools/call", { ...session, "x-long": long });
  expect(await leastLeftBehind(gateway, call)).toBeLessThan(4_000);
});

/**
 * Returns the bytes for each request that are left behind in the best of some rounds. On a busy machine, a request lasts for two
 * collections of young objects, and its objects then count as old.
 */
async function leastLeftBehind(gateway: Gateway, ask: () => Promise<unknown>): Promise<number> {
  const found: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await repeat(ask);
    found.push((await leftBehind(gateway)) / count);
  }
  return Math.min(...found.slice(1));
}

async function repeat(ask: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) {
    await ask();
    await nextTurn();
  }
}
