import { connect as connectHttp2 } from "node:http2";
import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType } from "../harness/frame-client.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { pause } from "../harness/pause.ts";
import { RawClient, servedClient } from "../harness/raw-client.ts";
import { refusals } from "../harness/refusals.ts";
import { startUpstream } from "../harness/upstream.ts";

const asks = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

async function start(frontendPolicies: object, host?: string) {
  const upstream = host ?? (await startUpstream((_request, response) => response.end("ok")));
  return startGateway({
    file: { frontendPolicies },
    listeners: [{ routes: [{ backends: [{ host: upstream }] }] }],
  });
}

it("a port refuses connections above maxConnections, tells of it, and takes new ones when others end", async () => {
  const gateway = await start({ tcp: { maxConnections: 2 } });
  const clients = [new RawClient(gateway.port), new RawClient(gateway.port)];
  for (const client of clients) {
    client.send(asks);
    await client.receives(/ok$/);
  }
  for (let i = 0; i < 3; i++) {
    const refused = new RawClient(gateway.port);
    refused.send(asks);
    await refused.closes();
    expect(refused.received).toBe("");
  }
  // Those that are there are served on.
  clients[0]?.send(asks);
  await clients[0]?.receives(/ok[\s\S]*ok$/);
  await gateway.seen(/\twarn\tgateway a port has 2 connections: more are refused/);
  expect(gateway.output.match(/are refused/g)).toHaveLength(1);
  const stats = (await gateway.seen(/stats address on (\S+)/))[1];
  const metrics = await (await fetch(`http://${stats}/metrics`)).text();
  expect(metrics).toMatch(/^gwc_connections_refused_total 3$/m);
  clients[1]?.socket.destroy();
  await eventually(() => clients[1]?.isClosed || null, "the end of a connection");
  const next = await servedClient(gateway.port, asks);
  await next.receives(/ok$/);
});

it("a port of TCP has the same limit, and its lines the level and the removed fields", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  const host = `127.0.0.1:${await listen(server)}`;
  const file = {
    config: { logging: { filter: "false", fields: { remove: ["src.addr", "bytes.sent"] } } },
    frontendPolicies: { tcp: { maxConnections: 1 } },
  };
  const listeners = [{ protocol: "TCP", tcpRoutes: [{ backends: [{ host }] }] }];
  const gateway = await startGateway({ file, listeners });
  const first = new RawClient(gateway.port);
  first.send("bytes");
  await first.receives(/bytes/);
  const refused = new RawClient(gateway.port);
  await refused.closes();
  await gateway.seen(/a port has 1 connections: more are refused/);
  first.socket.destroy();
  const [line] = await gateway.seen(/\trequest .*$/m);
  expect(line).toMatch(/protocol=tcp bytes\.received=5 /);
  expect(line).not.toMatch(/src\.addr|bytes\.sent/);
  const quiet = await startGateway({ file, listeners, env: { RUST_LOG: "request=off" } });
  const client = new RawClient(quiet.port);
  client.send("bytes");
  await client.receives(/bytes/);
  client.socket.destroy();
  await client.closes();
  await quiet.stop();
  expect(quiet.output).not.toContain("protocol=tcp");
});

it("a connection of HTTP/1.1 ends with maxConnectionDuration: idle at once, busy with its response", async () => {
  const responses: (() => void)[] = [];
  const upstream = await startUpstream((request, response) => {
    if (request.url === "/slow") {
      response.write("be");
      responses.push(() => response.end("gun"));
    } else if (request.url === "/held") responses.push(() => response.end("held"));
    else response.end("ok");
  });
  const { port } = await start({ http: { maxConnectionDuration: "1s" } }, upstream);
  const slow = await servedClient(port, asks.replace("/", "/slow"));
  const held = await servedClient(port, asks.replace("/", "/held"), () => responses.length > 1);
  const started = performance.now();
  const idle = await servedClient(port, asks);
  await idle.closes();
  expect(performance.now() - started).toBeGreaterThan(900);
  await pause(4000);
  expect(slow.isClosed || held.isClosed).toBe(false);
  for (const response of responses) response();
  await slow.closes();
  expect(slow.received).toMatch(/gun/);
  await held.closes();
  // Its head had not been sent yet, so it announces the end.
  expect(held.received).toMatch(/connection: close[\s\S]*held$/i);
});

it("a connection of HTTP/2 gets GOAWAY with maxConnectionDuration, and its streams end; tunnels stay", async () => {
  let finish: (() => void) | undefined;
  const server = createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", (head) => {
      if (/upgrade: own/i.test(head.toString())) {
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: own\r\n\r\n",
        );
        socket.on("data", (chunk) => socket.write(chunk));
        return;
      }
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbe");
      finish = () => socket.write("gun");
    });
  });
  const host = `127.0.0.1:${await listen(server)}`;
  const { port } = await start({ http: { maxConnectionDuration: "1s" } }, host);
  const tunnel = await servedClient(
    port,
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: own\r\n\r\n",
  );
  await tunnel.receives(/101 /);
  const open = () => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const client = { session, text: "", isGoing: false };
    session.on("error", () => {});
    session.on("goaway", () => {
      client.isGoing = true;
    });
    const stream = session.request({ ":path": "/" });
    stream.on("error", () => {});
    stream.on("data", (chunk) => {
      client.text += chunk;
    });
    return client;
  };
  const client = await eventually(async () => {
    const opened = open();
    const isOver = () => opened.text !== "" || opened.session.destroyed || null;
    await eventually(isOver, "a response or the end");
    return opened.text === "" ? null : opened;
  }, "a stream that is served");
  await eventually(() => client.isGoing || null, "GOAWAY");
  await pause(200);
  expect(client.text).toBe("be");
  finish?.();
  await eventually(() => (client.text === "begun" ? true : null), "the rest");
  await eventually(() => client.session.destroyed || null, "the end of the connection");
  tunnel.send("bytes");
  await tunnel.receives(/bytes$/);
});

it("a client sees the HTTP/2 settings that are configured, and PINGs that it answers keep its connection", async () => {
  const { port } = await start({
    http: {
      http2WindowSize: 70_000,
      http2ConnectionWindowSize: 200_000,
      http2FrameSize: 20_000,
      http2MaxHeaderSize: 4096,
      http2KeepaliveInterval: "1s",
      http2KeepaliveTimeout: "10s",
    },
  });
  const raw = new FrameClient(port);
  const settings = await eventually(
    () => raw.frames.find(({ type, flags }) => type === frameType.settings && flags === 0) ?? null,
    "SETTINGS",
  );
  const values = new Map(
    Array.from({ length: settings.payload.length / 6 }, (_, index) => [
      settings.payload.readUInt16BE(index * 6),
      settings.payload.readUInt32BE(index * 6 + 2),
    ]),
  );
  // RFC 9113 6.5.2: no push, streams, window, frame, header list.
  expect(values.get(2)).toBe(0);
  expect(values.get(3)).toBe(100);
  expect(values.get(4)).toBe(70_000);
  expect(values.get(5)).toBe(20_000);
  expect(values.get(6)).toBe(4096);
  const windowUpdate = await eventually(
    () => raw.frames.find(({ type, stream }) => type === 8 && stream === 0) ?? null,
    "WINDOW_UPDATE",
  );
  expect(windowUpdate.payload.readUInt32BE(0)).toBe(200_000 - 65_535);
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  session.on("error", () => {});
  let pings = 0;
  session.on("ping", () => {
    pings += 1;
  });
  const responded = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve) => {
      const stream = session.request({ ":path": "/", ...headers });
      let status: number | undefined;
      stream.on("response", (head) => {
        status = head[":status"];
      });
      stream.on("error", () => {});
      stream.on("close", () => resolve(status));
      stream.resume();
    });
  expect(await responded({ "x-long": "a".repeat(3000) })).toBe(200);
  expect(await responded({ "x-long": "a".repeat(5000) })).not.toBe(200);
  await eventually(() => pings >= 3 || null, "PINGs");
  expect(session.destroyed).toBe(false);
  expect(await responded({})).toBe(200);
});

it("times beyond node's longest timer are long, not over at once", async () => {
  const long = "1000h";
  const upstream = await startUpstream((_request, response) => response.end("ok"));
  const gateway = await startGateway({
    file: {
      config: { connectionTerminationDeadline: long },
      frontendPolicies: { http: { maxConnectionDuration: long, http1IdleTimeout: long } },
    },
    listeners: [
      {
        routes: [
          {
            policies: {
              timeout: { requestTimeout: long, backendRequestTimeout: long },
              http: { requestTimeout: long },
              tcp: { connectTimeout: long },
            },
            backends: [{ host: upstream }],
          },
        ],
      },
    ],
  });
  const client = new RawClient(gateway.port);
  client.send(asks);
  await client.receives(/ok$/);
  await pause(200);
  client.send(asks);
  await client.receives(/ok[\s\S]*ok$/);
  expect(gateway.output).not.toContain("TimeoutOverflowWarning");
});

it("bounds of the limits", () => {
  const of = (frontendPolicies: object) =>
    refusals({
      file: { frontendPolicies },
      listeners: [{ routes: [{ backends: [{ host: "a:1" }] }] }],
    });
  expect(of({ tcp: { maxConnections: 0 } })).toEqual(["out-of-range"]);
  expect(of({ tcp: { maxConnections: 1_000_001 } })).toEqual(["out-of-range"]);
  expect(of({ http: { maxConnectionDuration: "999ms" } })).toEqual(["out-of-range"]);
  expect(of({ http: { http2MaxHeaderSize: 1023 } })).toEqual(["out-of-range"]);
  expect(of({ tcp: { keepalive: {}, keepalives: {} } })).toEqual(["wrong-choice"]);
});
