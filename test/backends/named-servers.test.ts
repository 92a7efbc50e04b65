import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { type AskedTunnel, startConnectProxy } from "../harness/connect-proxy.ts";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { RawClient } from "../harness/raw-client.ts";
import { send } from "../harness/send.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { secureUpstream } from "./secure-upstream.ts";

let gateway: Gateway;
let tcpPort: number;
const asked: AskedTunnel[] = [];
/** Connections over TLS, paths and forms that the authorization server got. */
const exchanged: { path: string | undefined; subject: string | null }[] = [];

beforeAll(async () => {
  const echo = await startEcho();
  const echoPort = Number(new URL(echo.url).port);
  const { folder, port: securePort, server } = await secureUpstream();
  server.removeAllListeners("request");
  server.on("request", async (request, response) => {
    const form = new URLSearchParams(await text(request));
    exchanged.push({ path: request.url, subject: form.get("subject_token") });
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ access_token: "new", token_type: "Bearer", expires_in: 60 }));
  });
  const mcp = await startMcpServer();
  const api = await listen(
    createServer((request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ asked: request.url }));
    }),
  );
  const raw = await startTcpServer((socket) => socket.on("data", (data) => socket.write(data)));
  const proxy = await startConnectProxy(asked, () => ({ host: "127.0.0.1", port: echoPort }));
  tcpPort = await freePort();
  const port = await freePort();
  const route = (name: string, backend: object, policies: object = {}) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies,
    backends: [backend],
  });
  const echoed = { host: new URL(echo.url).host };
  const exchange = (more: object) => ({ backendAuth: { oauthTokenExchange: more } });
  gateway = await startGateway({
    folder,
    env: { PROXY_KEY: "secret" },
    config: {
      backends: [
        { name: "tools", host: `127.0.0.1:${mcp.port}` },
        { name: "api", host: `127.0.0.1:${api}` },
        { name: "raw", host: `127.0.0.1:${raw.port}` },
        {
          name: "proxy",
          host: `127.0.0.1:${proxy}`,
          policies: { backendAuth: { key: "${PROXY_KEY}" } },
        },
        {
          name: "login",
          host: `localhost:${securePort}`,
          policies: { backendTLS: { root: "ca.pem" } },
        },
      ],
      binds: [
        {
          port,
          listeners: [
            {
              routes: [
                route("mcp", {
                  mcp: {
                    targets: [
                      { name: "tools", mcp: { backend: "tools", path: "/mcp" } },
                      {
                        name: "api",
                        openapi: {
                          backend: "api",
                          schema: JSON.stringify({
                            openapi: "3.0.0",
                            paths: { "/things": { get: { operationId: "things" } } },
                          }),
                        },
                      },
                    ],
                  },
                }),
                route("tunnel", echoed, { backendTunnel: { proxy: { backend: "proxy" } } }),
                route("named", echoed, exchange({ backend: "login", path: "/token" })),
                route(
                  "own",
                  echoed,
                  exchange({
                    host: `localhost:${securePort}`,
                    path: "/own",
                    policies: { backendTLS: { root: "ca.pem" } },
                  }),
                ),
              ],
            },
          ],
        },
        {
          port: tcpPort,
          listeners: [{ protocol: "TCP", tcpRoutes: [{ backends: [{ backend: "raw" }] }] }],
        },
      ],
    },
  });
  gateway.port = port;
});

async function call(method: string, params: object): Promise<string> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const post = (session: Record<string, string>, body: object) =>
    send(`${gateway.url}/mcp`, "POST", { ...headers, ...session }, JSON.stringify(body));
  const clientInfo = { name: "test", version: "1" };
  const opened = await post(
    {},
    {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
    },
  );
  const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
  await post(session, { jsonrpc: "2.0", method: "notifications/initialized" });
  return (await post(session, { jsonrpc: "2.0", id: 2, method, params })).body;
}

describe("servers by the names of backends", () => {
  it("MCP targets are listed and called at the server of a named backend", async () => {
    expect(await call("tools/list", {})).toContain('"tools_hello"');
    expect(await call("tools/call", { name: "tools_hello" })).toContain("hello");
  });

  it("operations of an OpenAPI target are called there", async () => {
    expect(await call("tools/call", { name: "api_things" })).toContain("/things");
  });

  it("TCP routes forward connections there", async () => {
    const client = new RawClient(tcpPort);
    client.send("over tcp");
    await client.receives("over tcp");
  });

  it("tunnels go through the proxy with its own credential", async () => {
    expect((await send(`${gateway.url}/tunnel`, "GET")).status).toBe(200);
    expect(asked.at(-1)?.[1]).toBe("Bearer secret");
  });

  it.each(["named", "own"])("tokens are exchanged over the server's own TLS (%s)", async (path) => {
    const token = `t-${path}`;
    const { status, body } = await send(`${gateway.url}/${path}`, "GET", {
      authorization: `Bearer ${token}`,
    });
    expect([status, body]).toEqual([200, expect.stringContaining("Bearer new")]);
    const at = path === "own" ? "/own" : "/token";
    expect(exchanged).toContainEqual({ path: at, subject: token });
  });
});

/** Codes of a file whose only route has these policies. */
function mistakes(backend: object, policies: object): readonly string[] {
  const file = {
    backends: [{ name: "a", host: "127.0.0.1:9000", ...backend }],
    binds: [
      { port: 3000, listeners: [{ routes: [{ policies, backends: [{ host: "127.0.0.1:1" }] }] }] },
    ],
  };
  const host = memoryHost({ "gateway.yaml": JSON.stringify(file) });
  return checkFiles(["gateway.yaml"], host, { isStrict: false, name: "gateway" }).diagnostics.map(
    ({ code }) => code,
  );
}

describe("a name that cannot be used", () => {
  const exchange = { backendAuth: { oauthTokenExchange: { backend: "a" } } };

  it("is a mistake if no backend has it", () => {
    const tunnel = { backendTunnel: { proxy: { backend: "b" } } };
    expect(mistakes({}, tunnel)).toContain("missing-reference");
  });

  it("is a mistake if its server asks for a token of itself", () => {
    expect(mistakes({ policies: exchange }, exchange)).toContain("misplaced-field");
  });

  it("is a mistake if the proxy would be reached through another proxy", () => {
    const through = { backendTunnel: { proxy: { backend: "a" } } };
    expect(mistakes({ policies: through }, through)).toContain("misplaced-field");
  });
});
