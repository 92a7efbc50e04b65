import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import {
  extension,
  hello,
  named,
  record,
  startSecure,
  talk,
  to,
  u16,
  vector,
} from "./passed-tls.ts";

/** The message of one record in several records of some bytes. */
function inRecords(record: Buffer, size: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 5; at < record.length; at += size) {
    const piece = record.subarray(at, at + size);
    const header = Buffer.from([22, 3, 1, 0, 0]);
    header.writeUInt16BE(piece.length, 3);
    pieces.push(header, piece);
  }
  return Buffer.concat(pieces);
}

it("a ClientHello may come in any number of segments and records", async () => {
  const folder = temporaryFolder();
  const server = await startSecure(folder, "server", ["a.test"]);
  const gateway = await startGateway({
    listeners: [
      { protocol: "TLS", hostname: "a.test", tcpRoutes: [{ backends: [to(server.port)] }] },
    ],
  });
  // Between the client and the gateway, who cuts the first flight to pieces.
  for (const [segment, record] of [
    [1, 16_384],
    [1, 1],
    [7, 100],
    [100_000, 1],
    [3, 5],
  ] as const) {
    const cutter = await startTcpServer((socket) => {
      const onward = new RawClient(gateway.port, { allowHalfOpen: true }).socket;
      onward.setNoDelay(true);
      socket.once("data", async (hello) => {
        socket.pause();
        const bytes = inRecords(hello, record);
        for (let at = 0; at < bytes.length; at += segment) {
          onward.write(bytes.subarray(at, at + segment));
          // A segment for each write.
          if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        socket.pipe(onward);
      });
      onward.pipe(socket);
    });
    const said = await talk(cutter.port, "a.test", server.ca);
    expect(said, `${segment} ${record}`).toMatchObject({ heard: "server for a.test\nhello\n" });
  }
});

const junk: readonly (readonly [string, Buffer])[] = [
  ["HTTP", Buffer.from("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")],
  ["SSL 2", Buffer.from([0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10])],
  ["zeros", Buffer.alloc(1000)],
  ["an alert", record(Buffer.from([2, 40]), 21)],
  ["data", record(Buffer.from("data"), 23)],
  ["an empty record", record(Buffer.alloc(0))],
  ["a record of more than 2^14 bytes", Buffer.concat([Buffer.from([22, 3, 1]), u16(16_385)])],
  ["another version", Buffer.from([22, 4, 1, 0, 4, 1, 0, 0, 0])],
  ["a ServerHello", record(hello(named("a.test"), 2))],
  ["a hello of 16 MB", record(hello(named("a.test"), 1, 0xffffff))],
  ["a hello of 20 KB", record(hello(named("a.test"), 1, 20_000))],
  ["a hello that ends early", record(hello(named("a.test"), 1, 40))],
  ["an extension that ends early", record(hello(Buffer.from([0, 0, 0, 9, 0, 7])))],
  [
    "a name that is longer than its list",
    record(hello(extension(0, Buffer.from([0, 4, 0, 0, 9, 97])))),
  ],
  ["two names", record(hello(Buffer.concat([named("a.test"), named("b.test")])))],
  [
    "two names in one list",
    record(hello(extension(0, vector(Buffer.from([0, 0, 1, 97, 0, 0, 1, 98]))))),
  ],
  ["another type of name", record(hello(named("a.test", 1)))],
  ["an empty name", record(hello(named("")))],
  ["an empty list", record(hello(extension(0, u16(0))))],
  ["a name with NUL", record(hello(named("a.test\0.b.test")))],
  ["a name with a line break", record(hello(named("a.test\nlistener=x")))],
  ["a name with a slash", record(hello(named("a.test/b")))],
  ["a name with a final dot", record(hello(named("a.test.")))],
  ["a name with a port", record(hello(named("a.test:443")))],
  ["a name beyond ASCII", record(hello(named("\xe4.test")))],
  ["a name of 300 bytes", record(hello(named(`${"a.".repeat(150)}b`)))],
  ["a label of 64 bytes", record(hello(named(`${"a".repeat(64)}.test`)))],
];

it("what is no ClientHello is closed, and reaches no backend", async () => {
  const server = await startTcpServer(() => {});
  const gateway = await startGateway({
    listeners: [{ protocol: "TLS", tcpRoutes: [{ backends: [to(server.port)] }] }],
  });
  // The same form with nothing wrong in it goes through.
  const good = new RawClient(gateway.port, { allowHalfOpen: true });
  good.send(record(hello(named("a.test"))));
  await eventually(() => server.sockets[0] ?? null, "a connection");
  for (const [what, bytes] of junk) {
    const client = new RawClient(gateway.port, { allowHalfOpen: true });
    client.send(bytes);
    await eventually(() => client.isClosed || client.hasEnded || null, `the end of ${what}`);
    expect(client.received, what).toBe("");
  }
  // Left in the middle.
  const leaving = new RawClient(gateway.port, { allowHalfOpen: true });
  leaving.send(record(hello(named("a.test"))).subarray(0, 20));
  leaving.socket.end();
  await leaving.ends();
  expect(server.sockets).toHaveLength(1);
  await gateway.seen(/error="the client left" reason=BadRequest/);
  await gateway.seen(/error="not TLS" reason=BadRequest/);
  expect(gateway.output).not.toContain("listener=x");
  expect(gateway.output).not.toMatch(/bug| {4}at /);
});

it("a hello that does not come in time is not waited for", async () => {
  const server = await startTcpServer(() => {});
  const gateway = await startGateway({
    file: { frontendPolicies: { tls: { handshakeTimeout: "300ms" } } },
    listeners: [{ protocol: "TLS", tcpRoutes: [{ backends: [to(server.port)] }] }],
  });
  const bytes = record(hello(named("a.test")));
  const silent = new RawClient(gateway.port, { allowHalfOpen: true });
  const slow = new RawClient(gateway.port, { allowHalfOpen: true });
  slow.send(bytes.subarray(0, 30));
  await silent.closes();
  await slow.closes();
  const other = await startGateway({
    listeners: [{ protocol: "TLS", tcpRoutes: [{ backends: [to(server.port)] }] }],
  });
  const honest = new RawClient(other.port, { allowHalfOpen: true });
  honest.send(bytes);
  await eventually(() => server.sockets[0] ?? null, "the honest client's connection");
  await gateway.seen(/error="no ClientHello within the time limit" reason=Timeout/);
});
