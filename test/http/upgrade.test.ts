import { createServer } from "node:http";
import type { Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { echoFrame, upgradeResponse } from "../harness/echo-frame.ts";
import { startEnvoyServices } from "../harness/envoy-services.ts";
import { eventually } from "../harness/eventually.ts";
import { expositionOf } from "../harness/exposition.ts";
import { startGateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { bytesHeld, bytesTaken } from "../harness/kernel-queues.ts";
import { listen } from "../harness/listen.ts";
import { patient } from "../harness/patient-callout.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { settled } from "../harness/settled.ts";
import { writeEndlessly } from "../harness/write-endlessly.ts";

const asking = "Connection: Upgrade\r\nUpgrade: own/1\r\n";

/** An upstream that changes to WebSocket (echo), or to `own/1` (raw echo), or refuses. */
async function startUpstream() {
  const sockets: Socket[] = [];
  const requests: { url: string | undefined; headers: string[] }[] = [];
  const server = createServer({ maxHeaderSize: 65_536 }, (request, response) => {
    requests.push({ url: request.url, headers: request.rawHeaders });
    response.writeHead(426, { "x-why": "no upgrade" }).end("upgrade required");
  });
  server.on("upgrade", (request, socket: Socket, head) => {
    requests.push({ url: request.url, headers: request.rawHeaders });
    sockets.push(socket);
    socket.on("error", () => {});
    if (request.url === "/refuse") {
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nX-Why: not you\r\n\r\nno");
      return;
    }
    const protocol = request.url === "/other" ? "something-else" : request.headers.upgrade;
    socket.write(upgradeResponse(request, protocol));
    const echo = protocol === "websocket" ? echoFrame : (chunk: Buffer) => chunk;
    if (head.length > 0) socket.write(echo(head));
    // It reads nothing.
    if (request.url === "/mute") return;
    socket.on("data", (chunk) => {
      socket.write(echo(chunk));
      if (protocol === "websocket" && chunk[0] === 0x88) socket.end();
    });
    socket.on("end", () => socket.end());
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, sockets, requests };
}

/** A WebSocket once it is open, and what it has received. It is closed at the end of the test. */
async function openSocket(url: string) {
  const socket = new WebSocket(url);
  onTestFinished(() => socket.close());
  const received: string[] = [];
  socket.onmessage = ({ data }) => received.push(data);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  return { socket, received };
}

it("a WebSocket passes through to a backend, and its headers with it", async () => {
  const upstream = await startUpstream();
  const policies = { cors: { allowOrigins: ["*"] }, backendAuth: { key: "${KEY}" } };
  const routes = [{ policies, backends: [{ host: upstream.url }] }];
  const gateway = await startGateway({ env: { KEY: "k" }, listeners: [{ routes }] });
  const { socket, received } = await openSocket(`ws://127.0.0.1:${gateway.port}/ws?a=b`);
  for (const text of ["one", "two"]) {
    socket.send(text);
    await eventually(() => (received.at(-1) === text ? true : null), text);
  }
  const closed = new Promise((resolve) => {
    socket.onclose = resolve;
  });
  socket.close();
  await closed;
  const [request] = upstream.requests;
  expect(request?.url).toBe("/ws?a=b");
  expect(request?.headers.join("\n")).toMatch(/authorization\nBearer k/i);
  expect(request?.headers.join("\n")).toMatch(/sec-websocket-version/i);
  await gateway.seen(/http\.path=\/ws .*http\.status=101/);
});

it("a WebSocket is counted as a request to its upstream, from its beginning to its end", async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream.url }] }] }],
  });
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/ws`);
  onTestFinished(() => socket.close());
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const name = new URL(upstream.url).host;
  const figures = async () => {
    const { value } = await expositionOf(await gateway.statsPort());
    const ended = value(`gwc_upstream_requests_total{upstream="${name}",result="ok"}`);
    return [value(`gwc_upstream_requests_active{upstream="${name}"}`), ended].join();
  };
  expect(await figures()).toBe("1,0");
  socket.close();
  await eventually(async () => (await figures()) === "0,1" || null, "the end");
});

it.each([
  ["timeout", { timeout: { requestTimeout: "2s" } }],
  ["retry", { retry: { attempts: 2, codes: [426] }, timeout: { backendRequestTimeout: "2s" } }],
])("a WebSocket passes through a route with %s, and outlives it", async (_, policies) => {
  const upstream = await startUpstream();
  const routes = [{ policies, backends: [{ host: upstream.url }] }];
  const gateway = await startGateway({ listeners: [{ routes }] });
  const url = `ws://127.0.0.1:${gateway.port}/ws`;
  // A starved process may miss the time for the upgrade itself.
  const { socket, received } = await eventually(
    () => openSocket(url).catch(() => null),
    "a tunnel",
  );
  await pause(2500);
  socket.send("late");
  await eventually(() => (received.length > 0 ? true : null), "the echo");
  expect(received).toEqual(["late"]);
});

it("a client that asks by itself gets no tunnel: its bytes wait for the upstream's agreement", async () => {
  const upstream = await startUpstream();
  const { port } = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream.url }] }] }],
  });
  const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const [path, status] of [
    ["/refuse", 403],
    ["/other", 502],
  ] as const) {
    const client = new RawClient(port);
    client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n${asking}\r\n${smuggled}`);
    await client.closes();
    expect(client.received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(client.received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  }
  expect(upstream.requests.map(({ url }) => url)).toEqual(["/refuse", "/other"]);
});

it("bytes sent before the agreement, in both directions, arrive; the end of one side ends the other", async () => {
  const upstream = await startUpstream();
  const { port } = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream.url }] }] }],
  });
  const client = new RawClient(port);
  client.send(`GET / HTTP/1.1\r\nHost: a\r\n${asking}\r\nearly`);
  await client.receives(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\nearly$/);
  expect(client.received).toMatch(/\r\nupgrade: own\/1\r\n/i);
  client.send(" late");
  await client.receives(/early late$/);
  client.socket.end();
  await client.closes();
  const gone = new RawClient(port);
  gone.send(`GET / HTTP/1.1\r\nHost: a\r\n${asking}\r\n`);
  await gone.receives(/ 101 /);
  const last = upstream.sockets.at(-1);
  gone.socket.destroy();
  await eventually(() => (last?.destroyed === true ? true : null), "the end upstream");
});

it("tunnels that have ended leave nothing behind", async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream.url }] }] }],
  });
  const openAndEnd = async (count: number) => {
    const clients = Array.from({ length: count }, () => new RawClient(gateway.port));
    for (const client of clients) {
      client.send(`GET / HTTP/1.1\r\nHost: a\r\n${asking}X-Long: ${"x".repeat(50_000)}\r\n\r\n`);
      await client.receives(/ 101 /);
      client.socket.end();
      await client.closes();
    }
  };
  await openAndEnd(10);
  const before = await heldMegabytes(gateway);
  await openAndEnd(100);
  expect((await heldMegabytes(gateway)) - before).toBeLessThan(5);
});

it("a client that stays when the upstream has left is let go", async () => {
  const upstream = await startUpstream();
  const { port } = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream.url }] }] }],
  });
  const client = new RawClient(port, { allowHalfOpen: true });
  client.send(`GET / HTTP/1.1\r\nHost: a\r\n${asking}\r\n`);
  await client.receives(/ 101 /);
  upstream.sockets[0]?.end("the last");
  await client.ends();
  expect(client.received).toMatch(/the last$/);
  await client.isLetGo();
});

it("h2c, and requests with a body, are requests like any other", async () => {
  const upstream = await startUpstream();
  const { port } = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream.url }] }] }],
  });
  const client = new RawClient(port);
  client.send(
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n",
  );
  await client.receives(/^HTTP\/1\.1 426 /);
  client.send(`POST / HTTP/1.1\r\nHost: a\r\n${asking}Content-Length: 2\r\n\r\nab`);
  await client.receives(/426[\s\S]*426 /);
  const sent = upstream.requests.flatMap(({ headers }) =>
    headers.map((each) => each.toLowerCase()),
  );
  expect(sent).not.toContain("upgrade");
  expect(sent).not.toContain("http2-settings");
});

it("policies apply to a tunnel as to any request", async () => {
  const upstream = await startUpstream();
  const policies = { authorization: { rules: ['request.path == "/open"'] } };
  const { port } = await startGateway({
    listeners: [{ routes: [{ policies, backends: [{ host: upstream.url }] }] }],
  });
  const refused = new RawClient(port);
  refused.send(`GET /closed HTTP/1.1\r\nHost: a\r\n${asking}\r\n`);
  await refused.closes();
  expect(refused.received).toMatch(/^HTTP\/1\.1 403 /);
  const client = new RawClient(port);
  client.send(`GET /open HTTP/1.1\r\nHost: a\r\n${asking}\r\n`);
  await client.receives(/ 101 /);
  expect(upstream.requests.map(({ url }) => url)).toEqual(["/open"]);
});

it("policies that change responses leave the bytes of a tunnel alone", async () => {
  const [upstream, services] = await Promise.all([startUpstream(), startEnvoyServices()]);
  const policies = {
    "/processed": { extProc: { host: new URL(services.url).host, policies: patient } },
    "/changed": { transformations: { response: { body: '"other"' } } },
  };
  const routes = Object.entries(policies).map(([path, each]) => ({
    matches: [{ path: { exact: path } }],
    policies: each,
    backends: [{ host: upstream.url }],
  }));
  const gateway = await startGateway({ listeners: [{ routes }] });
  for (const path of Object.keys(policies)) {
    const { socket, received } = await openSocket(`ws://127.0.0.1:${gateway.port}${path}`);
    socket.send("hello");
    await eventually(() => (received.at(-1) === "hello" ? true : null), path);
    const closed = new Promise((resolve) => {
      socket.onclose = resolve;
    });
    socket.close();
    await closed;
  }
});

it("tunnels do not keep the calls of their processor", async () => {
  const [upstream, services] = await Promise.all([startUpstream(), startEnvoyServices()]);
  const policies = { extProc: { host: new URL(services.url).host, policies: patient } };
  const { port } = await startGateway({
    listeners: [{ routes: [{ policies, backends: [{ host: upstream.url }] }] }],
  });
  // It takes 64 calls at a time (envoy-services.py).
  const clients = Array.from({ length: 65 }, () => new RawClient(port));
  for (const client of clients) {
    client.send(`GET / HTTP/1.1\r\nHost: a\r\n${asking}\r\n`);
    await client.receives(/^HTTP\/1\.1 101 /);
  }
});

it("an upstream that is down is a 503, and tunnels end with the gateway", async () => {
  const upstream = await startUpstream();
  const start = (deadline: string) =>
    startGateway({
      env: { CONNECTION_TERMINATION_DEADLINE: deadline },
      listeners: [
        {
          routes: [
            { matches: [{ path: { exact: "/down" } }], backends: [{ host: "127.0.0.1:1" }] },
            { backends: [{ host: upstream.url }] },
          ],
        },
      ],
    });
  const gateway = await start("300ms");
  const down = new RawClient(gateway.port);
  down.send(`GET /down HTTP/1.1\r\nHost: a\r\n${asking}\r\n`);
  await down.closes();
  expect(down.received).toMatch(/^HTTP\/1\.1 503 /);
  const patient = await start("120s");
  const [client, other] = [new RawClient(gateway.port), new RawClient(patient.port)];
  for (const each of [client, other]) {
    each.send(`GET / HTTP/1.1\r\nHost: a\r\n${asking}\r\n`);
    await each.receives(/ 101 /);
  }
  patient.signal("SIGTERM");
  await patient.seen(/draining/);
  expect(await gateway.stop()).toBe(0);
  await client.closes();
  expect(other.isClosed).toBe(false);
});

it("a slow side of a tunnel holds the other back", async () => {
  const upstream = await startUpstream();
  const { port } = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream.url }] }] }],
  });
  const client = new RawClient(port);
  client.send(`GET /mute HTTP/1.1\r\nHost: a\r\n${asking}\r\n`);
  await client.receives(/ 101 /);
  // Nobody reads: all buffers on the way fill, and then nothing more is taken from the client.
  writeEndlessly(client.socket, "x".repeat(65_536));
  await settled(() => bytesTaken(client.socket));
  expect(bytesHeld(client.socket, upstream.sockets[0])).toBeLessThan(1_048_576);
});
