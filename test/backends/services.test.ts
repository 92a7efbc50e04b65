import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { memoryHost } from "../../compiler/host.ts";
import { type AskedTunnel, startConnectProxy } from "../harness/connect-proxy.ts";
import { startEcho } from "../harness/echo.ts";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { send } from "../harness/send.ts";
import { startTcpServer } from "../harness/tcp-server.ts";

const names = pathToFileURL(join(import.meta.dirname, "../harness/fake-names.mjs"));

let gateway: Gateway;
let tcpPort: number;
const asked: AskedTunnel[] = [];
/** Paths of the requests that the authorization server, the mirror and the token endpoint got. */
const called: string[] = [];

beforeAll(async () => {
  const echo = new URL((await startEcho()).url);
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await text(request));
    called.push(request.url ?? "");
    const isDenied = request.url === "/checked/denied";
    response.writeHead(isDenied ? 403 : 200, { "content-type": "application/json" });
    const token = { access_token: `for-${form.get("subject_token")}`, token_type: "Bearer" };
    response.end(JSON.stringify({ ...token, expires_in: 60 }));
  });
  const raw = await startTcpServer((socket) => socket.on("data", (data) => socket.write(data)));
  const proxy = await startConnectProxy(asked, () => ({
    host: "127.0.0.1",
    port: Number(echo.port),
  }));
  const ports = { web: Number(echo.port), calls: await listen(server), raw: raw.port, proxy };
  const port = await freePort();
  tcpPort = await freePort();
  gateway = await startGateway({
    config: file(ports, port, tcpPort),
    env: {
      NODE_OPTIONS: `--inspect-port=127.0.0.1:0 --import=${names}`,
      GWC_TEST_NAMES: JSON.stringify({ "servers.test": [["127.0.0.1"]] }),
    },
  });
  gateway.port = port;
});

type Ports = Readonly<Record<"web" | "calls" | "raw" | "proxy", number>>;

/** A file in which every server is a service. */
function file(ports: Ports, port: number, tcp: number): object {
  const service = (name: string, of = 80) => ({ service: { name: `default/${name}`, port: of } });
  const route = (name: string, policies: object, backend: object = service("web")) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies,
    backends: [backend],
  });
  const exchange = { oauthTokenExchange: { ...service("calls"), path: "/token" } };
  return {
    services: Object.entries(ports).map(([name, own]) => ({
      name,
      hostname: "servers.test",
      ports: { 80: own },
    })),
    binds: [
      {
        port,
        listeners: [
          {
            routes: [
              route("plain", {}),
              route("checked", { extAuthz: { ...service("calls"), protocol: { http: {} } } }),
              route("mirrored", { requestMirror: { backend: service("calls"), percentage: 1 } }),
              route("tunnel", { backendTunnel: { proxy: service("proxy") } }),
              route("exchanged", { backendAuth: exchange }),
            ],
          },
        ],
      },
      { port: tcp, listeners: [{ protocol: "TCP", tcpRoutes: [{ backends: [service("raw")] }] }] },
    ],
  };
}

describe("services of a file", () => {
  it("are backends of routes", async () => {
    const { status, body } = await send(`${gateway.url}/plain`, "GET");
    expect({ status, url: JSON.parse(body).url }).toEqual({ status: 200, url: "/plain" });
  });

  it("are servers that policies ask", async () => {
    expect((await send(`${gateway.url}/checked`, "GET")).status).toBe(200);
    expect((await send(`${gateway.url}/checked/denied`, "GET")).status).toBe(403);
    expect((await send(`${gateway.url}/mirrored`, "GET")).status).toBe(200);
    await eventually(() => called.find((each) => each === "/mirrored") ?? null, "the mirror");
  });

  it("are proxies of backends and token endpoints", async () => {
    expect((await send(`${gateway.url}/tunnel`, "GET")).status).toBe(200);
    expect(asked).toHaveLength(1);
    const { body } = await send(`${gateway.url}/exchanged`, "GET", {
      authorization: "Bearer mine",
    });
    expect(JSON.parse(body).headers.authorization).toBe("Bearer for-mine");
  });

  it("are servers of connections", async () => {
    const client = new RawClient(tcpPort);
    client.send("hello");
    await client.receives("hello");
  });
});

/** Returns what is said about a changed file. */
function told(change: (text: string) => string): readonly string[] {
  const ports = { web: 1, calls: 2, raw: 3, proxy: 4 };
  const config = change(JSON.stringify(file(ports, 8080, 8081), null, 1));
  const { diagnostics } = checkFiles(["gateway.yaml"], memoryHost({ "gateway.yaml": config }), {
    name: "test",
  });
  return diagnostics.map(({ code, params }) => `${code}: ${messageOf(code).text(params as never)}`);
}

it("a service that nothing declares or refers to is reported", () => {
  expect(told((each) => each)).toEqual([]);
  expect(told((each) => each.replace('"default/calls"', '"default/call"')).join("\n")).toContain(
    'there is no service "default/call:80"',
  );
  expect(told((each) => each.replace('"name": "web"', '"name": "wob"')).join("\n")).toContain(
    "unused-service",
  );
});
