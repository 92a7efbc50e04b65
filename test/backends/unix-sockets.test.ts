import { createServer, type IncomingMessage } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { Server } from "node:net";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { keepIdleConnections } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const socketAt = (name: string) => `unix:${folder}/${name}.sock`;

function listenAt(name: string, server: Server): Promise<void> {
  keepIdleConnections(server);
  return new Promise((resolve) => server.listen(`${folder}/${name}.sock`, resolve));
}

/** Tailscale's daemon as a gateway meets it: it answers to its own name alone. */
const daemon = createServer((request, response) => {
  const { host } = request.headers;
  const address = new URL(request.url ?? "", "http://host").searchParams.get("addr");
  if (host !== "local-tailscaled.sock") response.writeHead(403).end("invalid host");
  else response.end(JSON.stringify({ Node: { Name: "laptop" }, address }));
});

const app = createServer((request, response) => response.end(said(request)));
const modern = createHttp2Server((request, response) => {
  response.end(`HTTP/${request.httpVersion} ${request.url}`);
});

function said({ method, url, headers }: IncomingMessage): string {
  return `${method} ${url} ${headers.host}`;
}

let gateway: Gateway;

beforeAll(async () => {
  await Promise.all([listenAt("daemon", daemon), listenAt("app", app), listenAt("modern", modern)]);
  const extAuthz = (authority: string) => ({
    host: socketAt("daemon"),
    protocol: {
      http: {
        path: '"/localapi/v0/whois?addr=" + source.address',
        addRequestHeaders: { ":authority": authority },
        metadata: { node: "json(response.body).Node.Name" },
      },
    },
  });
  const behind = (authority: string) => ({
    policies: {
      extAuthz: extAuthz(authority),
      transformations: { response: { set: { "x-node": "extauthz.node" } } },
    },
    backends: [{ host: socketAt("app") }],
  });
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          { matches: [{ path: { pathPrefix: "/app" } }], backends: [{ host: socketAt("app") }] },
          {
            matches: [{ path: { pathPrefix: "/modern" } }],
            backends: [{ host: socketAt("modern"), policies: { http: { version: "HTTP2" } } }],
          },
          { matches: [{ path: { exact: "/gone" } }], backends: [{ host: socketAt("gone") }] },
          { matches: [{ path: { exact: "/known" } }], ...behind('"local-tailscaled.sock"') },
          { matches: [{ path: { exact: "/other" } }], ...behind('"other"') },
          { matches: [{ path: { exact: "/no-host" } }], ...behind('"a b"') },
        ],
      },
    ],
  });
});

afterAll(() => {
  for (const server of [daemon, app, modern]) server.close();
});

it("a backend on a Unix socket gets requests with the name that the client used", async () => {
  const { host } = new URL(gateway.url);
  for (const path of ["/app/a?b=c", "/app/d"]) {
    expect((await send(`${gateway.url}${path}`, "POST", {}, "text")).body).toBe(
      `POST ${path} ${host}`,
    );
  }
});

it("HTTP/2 is spoken over a socket as over TCP", async () => {
  expect((await send(`${gateway.url}/modern`, "GET")).body).toBe("HTTP/2.0 /modern");
});

it("a socket where nobody listens is a 503, and the log says which", async () => {
  expect((await send(`${gateway.url}/gone`, "GET")).status).toBe(503);
  await gateway.seen(/gone\.sock/);
});

it("an authorization server on a socket is asked by the name that an expression makes", async () => {
  const known = await send(`${gateway.url}/known`, "GET");
  expect(known.status).toBe(200);
  expect(known.headers["x-node"]).toBe("laptop");
  expect(await send(`${gateway.url}/other`, "GET")).toMatchObject({
    status: 403,
    body: "invalid host",
  });
});

it("a name that is no host is not sent", async () => {
  const asked = new Promise((resolve) => {
    const look = ({ headers }: IncomingMessage) => resolve(headers.host);
    daemon.once("request", look);
    onTestFinished(() => void daemon.off("request", look));
  });
  await send(`${gateway.url}/no-host`, "GET");
  expect(await asked).toBe("localhost");
});
