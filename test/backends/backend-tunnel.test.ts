import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { createServer as createSecure } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { startRawUpstream } from "../harness/raw-upstream.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { nowhere, startRoutes } from "../policies/routes.ts";

let gateway: Gateway;
let authority: string;
/** Tunnels that the proxies were asked for. */
const asked: string[] = [];
const plainHeaders: IncomingHttpHeaders[] = [];

/** A proxy that leads every name to this machine. */
function proxying<Proxy extends Server>(proxy: Proxy): Proxy {
  proxy.on("connect", (request, client) => {
    asked.push(request.url ?? "");
    plainHeaders.push(request.headers);
    const port = Number(/:(\d+)$/.exec(request.url ?? "")?.[1]);
    const server = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\nVia: proxy\r\n\r\n");
      client.pipe(server).pipe(client);
    });
    for (const each of [client, server]) each.on("error", () => {});
  });
  return proxy;
}

beforeAll(async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "site", { names: "DNS:site.test" });
  makeCertificate(folder, "proxy", { names: "IP:127.0.0.1" });
  authority = join(folder, "site.pem");
  writeFileSync(join(folder, "login"), `Basic ${btoa("gate:way")}\n`);
  const pem = (name: string) => ({
    cert: readFileSync(join(folder, `${name}.pem`)),
    key: readFileSync(join(folder, `${name}.key`)),
  });
  const site = await listen(
    createServer((request, response) =>
      request.pipe(response.writeHead(200, { "x-at": request.headers.host })),
    ),
  );
  const secure = await listen(
    createSecure(pem("site"), (request, response) =>
      response.end(`${request.headers.host} ${request.url}`),
    ),
  );
  const proxy = `127.0.0.1:${await listen(proxying(createServer()))}`;
  const secureProxy = `127.0.0.1:${await listen(proxying(createSecure(pem("proxy"))))}`;
  // The gateway's own forward proxy is a proxy, too: it refuses what is not public.
  const own = await startGateway({
    listeners: [
      {
        routes: [
          {
            policies: { authorization: { rules: ["true"] } },
            backends: [{ dynamic: { connect: { ports: [secure] } } }],
          },
        ],
      },
    ],
  });
  const silent = await startRawUpstream((socket) => socket.resume());
  const odd = await startRawUpstream((socket) => socket.end("SSH-2.0-x\r\n\r\n"));
  const route = (host: string, through: string, more: object = {}, reached: object = {}) => ({
    policies: { backendTunnel: { proxy: { host: through }, ...reached }, ...more },
    backends: [{ host }],
  });
  const tls = { backendTLS: { root: authority } };
  gateway = await startRoutes(
    {
      plain: route(`site.test:${site}`, proxy),
      secure: route(`https://site.test:${secure}`, proxy, tls),
      twice: route(`https://site.test:${secure}`, secureProxy, tls, {
        policies: { backendTLS: { root: join(folder, "proxy.pem") } },
      }),
      strange: route(`https://other.test:${secure}`, proxy, tls),
      refused: route(`127.0.0.1:${secure}`, new URL(own.url).host),
      away: route(`site.test:${site}`, `127.0.0.1:${await freePort()}`),
      silent: route(
        `site.test:${site}`,
        new URL(silent).host,
        {},
        {
          policies: { tcp: { connectTimeout: "200ms" } },
        },
      ),
      known: route(
        `site.test:${site}`,
        proxy,
        {},
        { policies: { backendAuth: { key: "${PROXY_KEY}" } } },
      ),
      named: route(
        `site.test:${site}`,
        proxy,
        {},
        { policies: { backendAuth: { key: { file: join(folder, "login") } } } },
      ),
      odd: route(`site.test:${site}`, new URL(odd).host),
    },
    nowhere,
    {},
    { PROXY_KEY: "open" },
  );
});

it("requests reach a server through a proxy that knows its name", async () => {
  const body = "x".repeat(200_000);
  const sent = await send(`${gateway.url}/plain`, "POST", { authorization: "Bearer a" }, body);
  expect([sent.status, sent.body === body]).toEqual([200, true]);
  expect(asked.at(-1)).toMatch(/^site\.test:\d+$/);
  expect(plainHeaders.at(-1)).toEqual({ host: asked.at(-1) });
});

it.each([
  ["known", "Bearer open"],
  ["named", `Basic ${btoa("gate:way")}`],
])(
  "a proxy is shown what it asks for, and the server behind it is not (%s)",
  async (path, shown) => {
    const { status, body } = await send(`${gateway.url}/${path}`, "POST", {}, "a");
    expect([status, body]).toEqual([200, "a"]);
    expect(plainHeaders.at(-1)).toEqual({
      host: asked.at(-1),
      "proxy-authorization": shown,
    });
    expect(gateway.output).not.toMatch(/Bearer|Basic/);
  },
);

it.each(["secure", "twice"])("TLS to the server is inside the tunnel (%s)", async (path) => {
  const { status, body } = await send(`${gateway.url}/${path}/a`, "GET");
  expect([status, body]).toEqual([200, `${asked.at(-1)} /${path}/a`]);
});

it("the certificate of the server in the tunnel is checked", async () => {
  expect((await send(`${gateway.url}/strange`, "GET")).status).toBe(503);
});

it("a proxy that refuses or speaks no HTTP is a 502, with the reason in the log", async () => {
  for (const [path, why] of [
    ["refused", /proxy 127\.0\.0\.1:\d+: status 403 for CONNECT/],
    ["odd", /proxy 127\.0\.0\.1:\d+: response is not HTTP/],
    ["silent", /proxy 127\.0\.0\.1:\d+: no response within 200 ms/],
  ] as const) {
    const { status, body } = await send(`${gateway.url}/${path}`, "GET");
    expect([path, status]).toEqual([path, 502]);
    expect(body).not.toMatch(/127\.0\.0\.1/);
    await gateway.seen(why);
  }
});

it("a proxy that can't be reached is a 503", async () => {
  expect((await send(`${gateway.url}/away`, "GET")).status).toBe(503);
  await gateway.seen(/proxy 127\.0\.0\.1:\d+: connect ECONNREFUSED/);
});
