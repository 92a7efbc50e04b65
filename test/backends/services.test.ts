import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { memoryHost } from "../../compiler/host.ts";
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
/** Paths of the requests that the authorization server and the mirror got. */
const called: string[] = [];

beforeAll(async () => {
  const echo = new URL((await startEcho()).url);
  const server = createServer((request, response) => {
    called.push(request.url ?? "");
    response.writeHead(request.url === "/checked/denied" ? 403 : 200).end();
  });
  const raw = await startTcpServer((socket) => socket.on("data", (data) => socket.write(data)));
  const ports = { web: Number(echo.port), calls: await listen(server), raw: raw.port };
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

type Ports = Readonly<Record<"web" | "calls" | "raw", number>>;

/** A file in which every server is a service. */
function file(ports: Ports, port: number, tcp: number): object {
  const service = (name: string, of = 80) => ({ service: { name: `default/${name}`, port: of } });
  const route = (name: string, policies: object, backend: object = service("web")) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies,
    backends: [backend],
  });
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
    await eventually(() => (called.includes("/mirrored") ? true : null), "the mirror");
  });

  it("are servers of connections", async () => {
    const client = new RawClient(tcpPort);
    client.send("hello");
    await client.receives("hello");
  });
});

/** Returns what is said about a changed file. */
function told(change: (text: string) => string): readonly string[] {
  const ports = { web: 1, calls: 2, raw: 3 };
  const config = change(JSON.stringify(file(ports, 8080, 8081), null, 1));
  const { diagnostics } = checkFiles(["gateway.yaml"], memoryHost({ "gateway.yaml": config }), {
    name: "test",
    isStrict: false,
  });
  return diagnostics.map(({ code, params }) => `${code}: ${messageOf(code).text(params as never)}`);
}

it("a service that nothing declares or refers to is reported", () => {
  expect(told((each) => each)).toEqual([]);
  expect(told((each) => each.replace('"default/calls"', '"default/call"')).join("\n")).toContain(
    'there is no service "default/call"',
  );
  expect(told((each) => each.replace('"name": "web"', '"name": "wob"')).join("\n")).toContain(
    "unused-service",
  );
});
