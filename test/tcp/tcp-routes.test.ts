import { readFileSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTls } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { bytesHeld, bytesTaken } from "../harness/kernel-queues.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { refusals } from "../harness/refusals.ts";
import { settled } from "../harness/settled.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { writeEndlessly } from "../harness/write-endlessly.ts";

const listener = (...tcpRoutes: object[]) => ({ name: "raw", protocol: "TCP", tcpRoutes });
const to = (port: number, rest: object = {}) => ({ host: `127.0.0.1:${port}`, ...rest });

it("bytes pass in both directions, and a server may speak first", async () => {
  const server = await startTcpServer((socket) => {
    socket.write("220 ready\r\n");
    socket.on("data", (chunk) => socket.write(chunk.toString().toUpperCase()));
  });
  const gateway = await startGateway({
    listeners: [listener({ name: "mail", backends: [to(server.port)] })],
  });
  const client = new RawClient(gateway.port, { allowHalfOpen: true });
  await client.receives("220 ready\r\n");
  client.send("helo\r\n");
  await client.receives("HELO\r\n");
  client.socket.end();
  await eventually(() => server.sockets[0]?.readableEnded || null, "the end at the server");
  server.sockets[0]?.end();
  await client.closes();
  expect(client.error).toBeUndefined();
  await gateway.seen(
    new RegExp(
      `request listener=raw route=mail endpoint=127.0.0.1:${server.port} src.addr=127.0.0.1:\\d+ ` +
        "protocol=tcp bytes.received=6 bytes.sent=17 duration=\\d+ms",
    ),
  );
  const [, stats] = await gateway.seen(/stats address on 127\.0\.0\.1:(\d+)/);
  const metrics = await (await fetch(`http://127.0.0.1:${stats}/metrics`)).text();
  const place = '{listener="raw",route="mail"';
  expect(metrics).toContain(`gwc_downstream_connections_total${place},reason=""} 1\n`);
  expect(metrics).toContain(`gwc_downstream_received_bytes_total${place}} 6\n`);
  expect(metrics).toContain(`gwc_downstream_sent_bytes_total${place}} 17\n`);
});

it("the end of one direction leaves the other one open", async () => {
  const ended: Socket[] = [];
  const server = await startTcpServer((socket) => {
    // It says what it has to say, and then still listens; or the other way round.
    socket.on("data", (chunk) => {
      if (chunk.toString() === "stop") socket.end("stopped");
    });
    socket.on("end", () => {
      ended.push(socket);
      if (socket.writable) socket.end("all of it");
    });
    socket.resume();
  });
  const gateway = await startGateway({ listeners: [listener({ backends: [to(server.port)] })] });
  const sender = new RawClient(gateway.port, { allowHalfOpen: true });
  sender.send("x");
  sender.socket.end();
  await sender.receives("all of it");
  await sender.closes();
  const receiver = new RawClient(gateway.port, { allowHalfOpen: true });
  receiver.send("stop");
  await receiver.receives("stopped");
  await receiver.ends();
  expect(receiver.isClosed).toBe(false);
  receiver.send("more");
  await eventually(() => server.sockets[1]?.bytesRead === 8 || null, "more bytes at the server");
  receiver.socket.end();
  await receiver.closes();
  await eventually(() => ended.length === 2 || null, "both ends at the server");
});

it("an abort of one side aborts the other one", async () => {
  const server = await startTcpServer((socket) => socket.resume());
  const gateway = await startGateway({ listeners: [listener({ backends: [to(server.port)] })] });
  const broken = new RawClient(gateway.port, { allowHalfOpen: true });
  broken.send("x");
  await eventually(() => server.sockets[0]?.bytesRead || null, "a byte");
  server.sockets[0]?.resetAndDestroy();
  await broken.closes();
  expect(broken.error).toBe("ECONNRESET");
  await gateway.seen(/error="read ECONNRESET" reason=UpstreamFailure/);
  const breaking = new RawClient(gateway.port, { allowHalfOpen: true });
  breaking.send("x");
  await eventually(() => server.sockets[1]?.bytesRead || null, "a byte");
  let error: NodeJS.ErrnoException | undefined;
  server.sockets[1]?.on("error", (each) => {
    error = each;
  });
  breaking.socket.resetAndDestroy();
  await eventually(() => server.sockets[1]?.destroyed || null, "the end at the server");
  expect(error?.code).toBe("ECONNRESET");
});

it("a slow reader holds the writer back, in both directions", async () => {
  const piece = Buffer.alloc(65_536);
  const mute = await startTcpServer(() => {});
  const flood = await startTcpServer((socket) => {
    writeEndlessly(socket, piece);
  });
  const gateway = await startGateway({
    listeners: [listener({ backends: [to(mute.port)] })],
  });
  const other = await startGateway({ listeners: [listener({ backends: [to(flood.port)] })] });
  const writer = new RawClient(gateway.port, { allowHalfOpen: true });
  writeEndlessly(writer.socket, piece);
  await settled(() => bytesTaken(writer.socket));
  expect(bytesHeld(writer.socket, mute.sockets[0])).toBeLessThan(1_048_576);
  const reader = new RawClient(other.port, { allowHalfOpen: true });
  reader.socket.pause();
  await eventually(() => flood.sockets[0]?.writableNeedDrain || null, "a full way");
  await settled(() => bytesTaken(flood.sockets[0]));
  expect(bytesHeld(flood.sockets[0], reader.socket)).toBeLessThan(1_048_576);
  // It continues as soon as the reader does.
  const had = reader.socket.bytesRead;
  reader.socket.resume();
  await eventually(() => reader.socket.bytesRead > had + 20_000_000 || null, "20 MB more");
});

it("a server that can't be reached closes the connection, and the log says why", async () => {
  const silent = await startTcpServer(() => {});
  const gateway = await startGateway({
    listeners: [
      listener({
        policies: { tcp: { connectTimeout: "200ms" } },
        // A handshake is a part of connecting.
        backends: [to(silent.port, { policies: { backendTLS: { insecure: true } } })],
      }),
    ],
  });
  const waiting = new RawClient(gateway.port, { allowHalfOpen: true });
  await waiting.closes();
  expect(waiting.error).toBe("ECONNRESET");
  await gateway.seen(/error="no connection within 200 ms" reason=UpstreamFailure/);
  const down = await startGateway({ listeners: [listener({ backends: [to(1)] })] });
  const client = new RawClient(down.port, { allowHalfOpen: true });
  client.send("x");
  await client.closes();
  await down.seen(/endpoint=127\.0\.0\.1:1 .*error="connect ECONNREFUSED.*reason=UpstreamFailure/);
  const nobody = await startGateway({
    listeners: [listener({ backends: [{ host: "nobody.invalid:1" }] })],
  });
  await new RawClient(nobody.port, { allowHalfOpen: true }).closes();
  await nobody.seen(/error="getaddrinfo .*reason=UpstreamFailure/);
});

it("several backends share the connections by weight", async () => {
  const servers = await Promise.all([0, 1, 2].map(() => startTcpServer((socket) => socket.end())));
  const [often, seldom, never] = servers;
  const gateway = await startGateway({
    listeners: [
      listener({
        backends: [
          to(often?.port ?? 0, { weight: 9 }),
          to(seldom?.port ?? 0),
          to(never?.port ?? 0, { weight: 0 }),
        ],
      }),
    ],
  });
  for (let round = 0; round < 20; round++) {
    const clients = Array.from(
      { length: 20 },
      () => new RawClient(gateway.port, { allowHalfOpen: true }),
    );
    await Promise.all(clients.map((client) => client.ends()));
    for (const client of clients) client.socket.end();
  }
  const counts = servers.map(({ sockets }) => sockets.length);
  expect(counts[2]).toBe(0);
  expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(400);
  // 40 are expected; fewer than 10 or more than 90 would not happen in a thousand years of tests.
  expect(counts[1]).toBeGreaterThan(9);
  expect(counts[1]).toBeLessThan(91);
});

it("where no backend has a weight connections are closed", async () => {
  const gateway = await startGateway({
    listeners: [listener({ backends: [to(1, { weight: 0 }), to(2, { weight: 0 })] })],
  });
  await new RawClient(gateway.port, { allowHalfOpen: true }).closes();
  await gateway.seen(/error="no backend has a weight" reason=NoHealthyBackend/);
});

it("rules over the source decide who may connect", async () => {
  const server = await startTcpServer((socket) => socket.end("in"));
  const routed = (rule: unknown) =>
    startGateway({
      listeners: [
        listener({
          policies: { authorization: { rules: [rule] } },
          backends: [to(server.port)],
        }),
      ],
    });
  const open = await routed('cidr("127.0.0.0/8").containsIP(source.address)');
  await new RawClient(open.port, { allowHalfOpen: true }).receives("in");
  const closed = await routed({ deny: 'source.address.startsWith("127.")' });
  const refused = new RawClient(closed.port, { allowHalfOpen: true });
  refused.send("anything");
  await refused.closes();
  expect(refused.received).toBe("");
  expect(server.sockets).toHaveLength(1);
  await closed.seen(/bytes\.received=0 .*reason=Authorization/);
});

it("an expression over the connection computes its server", async () => {
  const servers = await Promise.all(
    ["one", "two"].map((name) => startTcpServer((socket) => socket.end(name))),
  );
  const [one, two] = servers.map(({ port }) => port);
  const route = (target: string, allowPrivate: readonly string[] = ["127.0.0.0/8"]) =>
    startGateway({
      listeners: [
        listener({
          policies: { authorization: { rules: ["source.port > 0"] } },
          backends: [{ dynamic: { target, allowPrivate } }],
        }),
      ],
    });
  const chosen = await route(
    `source.address == "127.0.0.1" && destination.port > 0 ? "127.0.0.1:${one}" : "127.0.0.1:${two}"`,
  );
  const client = new RawClient(chosen.port, { allowHalfOpen: true });
  await client.receives("one");
  client.socket.end();
  await chosen.seen(new RegExp(`endpoint=127.0.0.1:${one} `));
  const closed = await route(`"127.0.0.1:${two}"`, ["10.0.0.0/8"]);
  await new RawClient(closed.port, { allowHalfOpen: true }).closes();
  await closed.seen(/reason=ForbiddenDestination/);
  const none = await route("destination.hostname");
  await new RawClient(none.port, { allowHalfOpen: true }).closes();
  await none.seen(/the target's expression has no value.*reason=UpstreamFailure/);
});

it("TLS to the backend is the gateway's, with its certificate", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "ca");
  makeCertificate(folder, "server", { signer: "ca", names: "DNS:backend.test" });
  makeCertificate(folder, "client", { signer: "ca" });
  const read = (name: string) => readFileSync(join(folder, name));
  const server = createTls(
    {
      cert: read("server.pem"),
      key: read("server.key"),
      ca: read("ca.pem"),
      requestCert: true,
      ALPNProtocols: ["postgresql"],
    },
    (socket) => {
      const name = socket.getPeerCertificate().subject?.CN;
      socket.write(`${socket.servername} ${name} ${socket.alpnProtocol}`);
      socket.on("data", (chunk) => socket.write(chunk));
      socket.on("error", () => {});
    },
  );
  await listen(server);
  const gateway = await startGateway({
    folder,
    listeners: [
      listener({
        policies: {
          backendTLS: {
            root: "ca.pem",
            cert: "client.pem",
            key: "client.key",
            hostname: "backend.test",
            alpn: ["mqtt", "postgresql"],
          },
        },
        backends: [to((server.address() as AddressInfo).port)],
      }),
    ],
  });
  const client = new RawClient(gateway.port, { allowHalfOpen: true });
  await client.receives("backend.test client postgresql");
  client.send("and back");
  await client.receives("and back");
  client.socket.end();
  await client.closes();
});

it("lines lose the fields that are removed, and go with the level of requests", async () => {
  const server = await startTcpServer((socket) => socket.end("in"));
  const start = (file: object) =>
    startGateway({ file, listeners: [listener({ backends: [to(server.port)] })] });
  const visit = async (port: number) => {
    const client = new RawClient(port, { allowHalfOpen: true });
    await client.receives("in");
    client.socket.end();
    await client.closes();
  };
  const brief = await start({
    config: { logging: { format: "json", fields: { remove: ["src.addr", "bytes.sent"] } } },
  });
  await visit(brief.port);
  const [line] = await brief.seen(/\{.*"protocol":"tcp".*\}/);
  expect(JSON.parse(line)).toMatchObject({
    scope: "request",
    listener: "raw",
    "bytes.received": 0,
  });
  expect(line).not.toMatch(/src\.addr|bytes\.sent/);
  const quiet = await start({ config: { logging: { level: "info,request=error" } } });
  await visit(quiet.port);
  expect(await quiet.stop()).toBe(0);
  expect(quiet.output).not.toContain("protocol=tcp");
});

it("a port has a bounded number of connections", async () => {
  const server = await startTcpServer((socket) => socket.write("in"));
  const gateway = await startGateway({
    file: { frontendPolicies: { tcp: { maxConnections: 2 } } },
    listeners: [listener({ backends: [to(server.port)] })],
  });
  const [first, second] = [
    new RawClient(gateway.port, { allowHalfOpen: true }),
    new RawClient(gateway.port, { allowHalfOpen: true }),
  ];
  await Promise.all([first.receives("in"), second.receives("in")]);
  const third = new RawClient(gateway.port, { allowHalfOpen: true });
  await third.ends();
  expect(third.received).toBe("");
  await gateway.seen(/a port has 2 connections: more are refused/);
  first.socket.resetAndDestroy();
  await eventually(
    () => server.sockets[0]?.destroyed || server.sockets[1]?.destroyed || null,
    "room",
  );
  await new RawClient(gateway.port, { allowHalfOpen: true }).receives("in");
});

it("a draining gateway ends silent connections, and the others at its deadline", async () => {
  const echo = await startTcpServer((socket) => socket.pipe(socket));
  const start = (deadline: string) =>
    startGateway({
      env: { CONNECTION_TERMINATION_DEADLINE: deadline },
      listeners: [listener({ backends: [to(echo.port)] })],
    });
  const patient = await start("120s");
  const silent = new RawClient(patient.port, { allowHalfOpen: true });
  silent.send("hello");
  await silent.receives("hello");
  const end = patient.stop();
  await silent.ends();
  expect(await end).toBe(0);
  await patient.seen(/reason=Draining/);
  const hasty = await start("300ms");
  const busy = new RawClient(hasty.port, { allowHalfOpen: true });
  const timer = setInterval(() => busy.send("x"), 20);
  onTestFinished(() => clearInterval(timer));
  await busy.receives("x");
  expect(await hasty.stop()).toBe(0);
  await busy.ends();
});

it("what means nothing for a connection is refused when it is built", () => {
  const backends = [to(1)];
  const policies = (each: object) => [listener({ policies: each, backends })];
  const route = { backends };
  const computed = (target: string) => [
    listener({
      policies: { authorization: { rules: ["source.port > 0"] } },
      backends: [{ dynamic: { target } }],
    }),
  ];
  for (const [listeners, codes] of [
    [policies({ cors: { allowOrigins: ["*"] } }), ["misplaced-field"]],
    [policies({ http: { version: "HTTP2" } }), ["misplaced-field"]],
    [policies({ backendAuth: { key: "${K:-k}" } }), ["misplaced-field"]],
    [policies({ jwtAuth: {}, timeout: {} }), ["misplaced-field", "misplaced-field"]],
    [policies({ authorization: { rules: ['request.path == "/"'] } }), ["needs-source"]],
    [policies({ corss: {} }), ["unknown-field"]],
    [[listener({ hostnames: ["a.test"], backends })], ["name-without-tls"]],
    [[{ ...listener(route), hostname: "a.test" }], ["name-without-tls"]],
    [[listener({ backends: [{ dynamic: {} }] })], ["no-destination"]],
    [[listener(route, route)], ["unreachable-route"]],
    [[listener({})], ["route-without-backend"]],
    [[listener({ backends: [{ host: "http://a.test:1" }] })], ["bad-format"]],
    [[listener({ backends: [{ host: "a.test" }] })], ["bad-format"]],
    [[{ ...listener(), routes: [] }], ["wrong-routes"]],
    [[{ tcpRoutes: [route] }], ["wrong-routes"]],
    [[{ protocol: "TLS", tcpRoutes: [{ backends: [{ dynamic: {} }] }] }], ["open-proxy"]],
    [[listener({ backends: [{ dynamic: { target: "source.address" } }] })], ["open-proxy"]],
    [computed("request.path"), ["needs-source"]],
    [computed("source.port"), ["cel-wrong-result"]],
    [[listener(route), { name: "b", routes: [{ backends }] }], ["protocol-conflict"]],
  ] as const) {
    expect(refusals({ listeners: [...listeners] }), JSON.stringify(listeners)).toEqual(
      expect.arrayContaining([...codes]),
    );
  }
});
