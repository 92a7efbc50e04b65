import { connect, createServer as createTcpServer } from "node:net";
import { describe, expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { mcpResponses, startUpstream } from "./raw-upstream.ts";
import { ask } from "./stateless-client.ts";

const tools = '{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}';
const works = mcpResponses({ "tools/list": tools });

/** Starts a server with sessions that refuses requests without one by its own error. */
function startSessionServer() {
  return startUpstream((response, request, message) => {
    const isOpening = message.method === "initialize";
    if (isOpening || request.method !== "POST" || request.headers["mcp-session-id"] !== undefined) {
      works(response, request, message);
      return;
    }
    const error = { code: -32_001, message: "Session not found" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: message.id ?? null, error });
    response.writeHead(404, { "content-type": "application/json" }).end(body);
  });
}

async function start(hosts: readonly string[]) {
  const targets = hosts.map((host, index) => ({ name: `t${index}`, mcp: { host } }));
  const policies = { retry: { attempts: 3, codes: [503] } };
  return startGateway({
    listeners: [{ routes: [{ policies, backends: [{ mcp: { targets } }] }] }],
  });
}

/** Aborts this number of connections and then forwards to a server: it comes back while requests are retried. */
async function comesBackAfter(failures: number, url: string): Promise<string> {
  const { port, pathname } = new URL(url);
  let left = failures;
  const front = createTcpServer((socket) => {
    socket.on("error", () => {});
    if (left > 0) {
      left -= 1;
      socket.destroy();
      return;
    }
    const server = connect(Number(port), "127.0.0.1");
    server.on("error", () => socket.destroy());
    socket.pipe(server).pipe(socket);
  });
  return `http://127.0.0.1:${await listen(front)}${pathname}`;
}

describe.each([1, 2])("a client without sessions, and %i targets of unknown era", (count) => {
  it("never gets the server's own error about a session, however long the server is down", async () => {
    for (let failures = 1; failures <= 10; failures++) {
      const server = await startSessionServer();
      const other = await startSessionServer();
      const first = await comesBackAfter(failures, server.url);
      const { url } = await start(count === 1 ? [first] : [first, other.url]);
      for (let tries = 0; tries < 4; tries++) {
        const { status, text } = await ask(url, "tools/list");
        expect(text).not.toContain("Session not found");
        if (status === 200) expect(text).toContain('"tools":[{');
        else expect(text).toMatch(/MCP server|failed|Internal/i);
      }
      expect((await ask(url, "tools/list")).text).toContain('"tools":[{');
    }
  });

  it("gets 503 or an error of the gateway while no server is up", async () => {
    const gone = `http://127.0.0.1:${await freePort()}/mcp`;
    const other = await startSessionServer();
    const { url } = await start(count === 1 ? [gone] : [gone, other.url]);
    const { status, text } = await ask(url, "tools/list");
    if (count === 1) expect(status).toBe(503);
    expect(JSON.parse(text).error.code).toBe(-32_603);
  });
});

it("gets the refusal of a server that requires credentials", async () => {
  const server = await startUpstream((response) => {
    response.writeHead(401, { "www-authenticate": "Bearer" }).end();
  });
  const { url } = await start([server.url]);
  const { status, headers } = await ask(url, "tools/list");
  expect([status, headers["www-authenticate"]]).toEqual([401, "Bearer"]);
});
