import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer as createSecure } from "node:https";
import { createServer as createTcp, type Socket } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { ProxyAgent, request } from "undici";
import { beforeAll, expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";

const names = pathToFileURL(join(import.meta.dirname, "../harness/fake-names.mjs"));
const run = promisify(execFile);
let authority = "";

beforeAll(() => {
  const folder = temporaryFolder();
  makeCertificate(folder, "site", { names: "DNS:site.test,IP:127.0.0.1" });
  authority = join(folder, "site.pem");
});

/** A proxy for one host, whatever is asked of it. */
function startProxy(dynamic: object, rule = 'request.host.startsWith("127.0.0.1:")') {
  return startGateway({
    env: { NODE_OPTIONS: `--import ${names}`, GWC_TEST_NAMES: '{"inside.test": ["10.0.0.1"]}' },
    listeners: [
      {
        name: "out",
        routes: [
          {
            policies: { authorization: { rules: [rule] } },
            backends: [{ dynamic: { allowPrivate: ["127.0.0.0/8"], ...dynamic } }],
          },
        ],
      },
    ],
  });
}

/** A server with TLS: its response shows that TLS was not terminated in between. */
function startSite(): Promise<number> {
  const key = readFileSync(authority.replace(/pem$/, "key"));
  const server = createSecure({ cert: readFileSync(authority), key }, (incoming, response) => {
    response.end(`site ${incoming.url}`);
  });
  return listen(server);
}

/** Returns the response to a CONNECT: the whole head, or the error of the connection. */
async function connectTo({ port }: Gateway, target: string, head = `Host: ${target}\r\n`) {
  const client = new RawClient(port);
  client.send(`CONNECT ${target} HTTP/1.1\r\n${head}\r\n`);
  await client.receives("\r\n\r\n");
  return client;
}

it("curl, undici and Python reach an https server through it", async () => {
  const port = await startSite();
  const gateway = await startProxy({ connect: { ports: [port] } });
  const proxy = `http://127.0.0.1:${gateway.port}`;
  const url = `https://127.0.0.1:${port}`;
  const curl = ["-s", "--noproxy", "", "--proxy", proxy, "--cacert", authority, `${url}/curl`];
  expect((await run(program("curl"), curl)).stdout).toBe("site /curl");

  const dispatcher = new ProxyAgent({ uri: proxy, requestTls: { ca: readFileSync(authority) } });
  const { body } = await request(`${url}/undici`, { dispatcher });
  expect(await body.text()).toBe("site /undici");
  await dispatcher.close();

  // Its CONNECT is one of HTTP/1.0, without Host.
  const script = [
    "import http.client, ssl, sys",
    "context = ssl.create_default_context(cafile=sys.argv[1])",
    "c = http.client.HTTPSConnection('127.0.0.1', int(sys.argv[2]), context=context)",
    "c.set_tunnel('127.0.0.1', int(sys.argv[3]))",
    "c.request('GET', '/python')",
    "print(c.getresponse().read().decode(), end='')",
  ].join("\n");
  const python = ["-c", script, authority, String(gateway.port), String(port)];
  expect((await run(program("python3"), python)).stdout).toBe("site /python");

  const line = /http.method=CONNECT .*http.status=200 .*bytes.received=\d+ bytes.sent=\d+/;
  await eventually(
    () => (gateway.output.match(new RegExp(line, "g")) ?? []).length === 3 || null,
    "the lines of three tunnels",
  );
});

it("what may be reached is decided by rules, ports and addresses, before anything is connected", async () => {
  const sockets: Socket[] = [];
  const port = await listen(createTcp((socket) => sockets.push(socket)));
  const other = await listen(createTcp((socket) => sockets.push(socket)));
  const gateway = await startProxy(
    { connect: { ports: [port, 443] } },
    '!request.host.startsWith("127.0.0.2:")',
  );
  const own = `Host: 127.0.0.1:${port}\r\n`;
  for (const [target, head, expected] of [
    [`127.0.0.1:${port}`, own, 200],
    [`127.0.0.1:${port}`, "Host: 127.0.0.1\r\n", 200],
    [`127.0.0.2:${port}`, undefined, 403],
    [`127.0.0.1:${other}`, undefined, 403],
    ["10.0.0.1:443", undefined, 403],
    ["inside.test:443", undefined, 403],
    ["169.254.169.254:443", undefined, 403],
    ["2130706433:443", undefined, 403],
    [`127.0.0.1:${port}`, "Host: site.test:443\r\n", 400],
    [`127.0.0.1:${port}`, `${own}Content-Length: 3\r\n`, 400],
    ["127.0.0.1", undefined, 400],
    [`user@127.0.0.1:${port}`, own, 400],
    [`http://127.0.0.1:${port}`, own, 400],
  ] as const) {
    const { received } = await connectTo(gateway, target, head);
    expect([target, head, Number(received.slice(9, 12))]).toEqual([target, head, expected]);
  }
  expect(sockets).toHaveLength(2);
});

it("bytes sent ahead reach the server, and each side's end is passed on", async () => {
  const port = await listen(
    createTcp({ allowHalfOpen: true }, (socket) => {
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      socket.on("end", () => socket.end(`heard ${text}`));
    }),
  );
  const gateway = await startProxy({ connect: { ports: [port] } });
  const client = new RawClient(gateway.port, { allowHalfOpen: true });
  const host = `127.0.0.1:${port}`;
  client.send(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\nahead `);
  await client.receives("\r\n\r\n");
  client.socket.end("and more");
  await client.ends();
  expect(client.received).toBe("HTTP/1.1 200 Connection established\r\n\r\nheard ahead and more");
});

it("there are so many tunnels at once", async () => {
  const port = await listen(createTcp((socket) => socket.on("error", () => {})));
  const gateway = await startProxy({ connect: { ports: [port], maxTunnels: 1 } });
  const first = await connectTo(gateway, `127.0.0.1:${port}`);
  expect(first.received).toContain(" 200 ");
  const second = await connectTo(gateway, `127.0.0.1:${port}`);
  expect(second.received).toContain(" 503 ");
});

it("a silent tunnel ends, and makes room for another one", async () => {
  const port = await listen(createTcp((socket) => socket.on("error", () => {})));
  const connect = { ports: [port], maxTunnels: 1, idleTimeout: "1s" };
  const gateway = await startProxy({ connect });
  const first = await connectTo(gateway, `127.0.0.1:${port}`);
  await first.closes();
  await gateway.seen(/http.method=CONNECT .*reason=Timeout/);
  await eventually(async () => {
    const again = await connectTo(gateway, `127.0.0.1:${port}`);
    return again.received.includes(" 200 ") || null;
  }, "room for another tunnel");
});

it("a connected client is disconnected when a tunnel is idle, and when its server aborts it", async () => {
  const sockets: Socket[] = [];
  const port = await listen(createTcp({ allowHalfOpen: true }, (socket) => sockets.push(socket)));
  const host = `127.0.0.1:${port}`;
  const open = async (connect: object) => {
    const gateway = await startProxy({ connect: { ports: [port], ...connect } });
    const client = new RawClient(gateway.port, { allowHalfOpen: true });
    client.send(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await client.receives("\r\n\r\n");
    return client;
  };
  const silent = await open({ idleTimeout: "1s" });
  await silent.ends();
  const broken = await open({});
  const server = await eventually(() => sockets[1] ?? null, "the second connection");
  server.end("the last");
  await broken.ends();
  expect(broken.received).toMatch(/the last$/);
  server.resetAndDestroy();
  await Promise.all([silent.isLetGo(), broken.isLetGo()]);
});

it("a server of the configuration is never asked for a tunnel", async () => {
  const sockets: Socket[] = [];
  const port = await listen(createTcp((socket) => sockets.push(socket)));
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          {
            hostnames: ["fixed.test"],
            backends: [{ host: `127.0.0.1:${port}` }],
          },
          {
            policies: { authorization: { rules: ["true"] } },
            backends: [{ dynamic: { connect: {} } }],
          },
        ],
      },
    ],
  });
  const { received } = await connectTo(gateway, "fixed.test:443");
  expect(received).toMatch(/ 403 /);
  expect(sockets).toHaveLength(0);
});

it("the backend's own rules decide about tunnels, and about requests", async () => {
  const port = await startSite();
  const rules = [`request.host == "127.0.0.1:${port}"`];
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          {
            backends: [
              {
                dynamic: { allowPrivate: ["127.0.0.0/8"], connect: { ports: [port, port + 1] } },
                policies: { authorization: { rules } },
              },
            ],
          },
        ],
      },
    ],
  });
  const proxy = `http://127.0.0.1:${gateway.port}`;
  const curl = ["-s", "--noproxy", "", "--proxy", proxy, "--cacert", authority];
  const url = `https://127.0.0.1:${port}`;
  expect((await run(program("curl"), [...curl, `${url}/curl`])).stdout).toBe("site /curl");
  const refused = await connectTo(gateway, `127.0.0.1:${port + 1}`);
  expect(refused.received).toMatch(/^HTTP\/1\.1 403 /);
  const plain = await run(program("curl"), [...curl, "-w", "%{http_code}", "http://127.0.0.2/"]);
  expect(plain.stdout).toMatch(/403$/);
});
