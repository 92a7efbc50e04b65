import { connect } from "node:http2";
import { totalmem } from "node:os";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType } from "../harness/frame-client.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";

const MiB = 1_048_576;
/** Bytes that the bodies of a test may use together. */
const maxBufferedBytes = 4 * MiB;
/** The part of a 2 MB body that each attacker sends. */
const unfinished = Buffer.alloc(1_900_000, "x");

/** A gateway whose rule reads bodies. */
async function startTarget(file: object): Promise<Gateway> {
  const upstream = await startUpstream((request, response) => {
    request.resume();
    request.on("end", () => response.end("ok"));
  });
  const rules = [{ deny: 'string(request.body).contains("bad")' }];
  const policies = { authorization: { rules } };
  const listeners = [{ routes: [{ policies, backends: [{ host: upstream }] }] }];
  return startGateway({ listeners, file });
}

async function figure(gateway: Gateway, name: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${await gateway.statsPort()}/metrics`);
  const line = new RegExp(`^${name} (\\d+)$`, "m").exec(await response.text());
  return Number(line?.[1]);
}

async function post(gateway: Gateway, body: Uint8Array, headers = {}): Promise<number> {
  const { status } = await fetch(gateway.url, { method: "POST", body, headers });
  return status;
}

/** The head of a request of HTTP/2 with a body. */
const headOfPost = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "a.test"],
] as const;

/** Buffered bytes stay within the bound while attackers are connected, and are released when they leave. */
async function expectBound(gateway: Gateway, attackers: number, refused: () => number) {
  const room = Math.floor(maxBufferedBytes / unfinished.length);
  await eventually(() => refused() >= attackers - room || null, "the refusals");
  expect(await figure(gateway, "gwc_buffered_bytes")).toBeLessThanOrEqual(maxBufferedBytes);
}

async function expectHeld(gateway: Gateway, bytes: number): Promise<void> {
  await eventually(
    async () => (await figure(gateway, "gwc_buffered_bytes")) === bytes || null,
    `${bytes} bytes to be held`,
  );
}

async function expectFree(gateway: Gateway): Promise<void> {
  await expectHeld(gateway, 0);
  expect(await post(gateway, unfinished)).toBe(200);
}

it("unfinished bodies on many connections take no more memory than they may together", async () => {
  const gateway = await startTarget({ config: { maxBufferedBytes } });
  const clients = Array.from({ length: 40 }, () => new RawClient(gateway.port));
  for (const client of clients) {
    client.send("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2000000\r\n\r\n");
    client.send(unfinished);
  }
  const refused = () => clients.filter(({ received }) => received.includes(" 503 ")).length;
  await expectBound(gateway, clients.length, refused);
  for (const { socket } of clients) socket.destroy();
  await expectFree(gateway);
  await gateway.seen(/NoBufferSpace/);
});

it("nor do those on the streams of an HTTP/2 connection", async () => {
  const gateway = await startTarget({ config: { maxBufferedBytes } });
  // Node's client would reset streams itself for all that it has to send.
  const session = connect(`http://127.0.0.1:${gateway.port}`, { maxSessionMemory: 1000 });
  atEnd(() => session.destroy());
  let refused = 0;
  const streams = Array.from({ length: 40 }, () => {
    const stream = session.request({ ":method": "POST", ":path": "/" });
    stream.on("error", () => {});
    stream.on("response", (headers) => {
      if (headers[":status"] === 503) refused += 1;
    });
    stream.write(unfinished);
    return stream;
  });
  await expectBound(gateway, streams.length, () => refused);
  session.destroy();
  await expectFree(gateway);
});

it.each([
  ["once some are held", (gateway: Gateway) => expectHeld(gateway, 16_000)],
  ["in one go", () => undefined],
])("a client of HTTP/2 that sends bytes, and %s its end, is gone", async (_name, before) => {
  const gateway = await startTarget({ config: { maxBufferedBytes } });
  const client = new FrameClient(gateway.port);
  client.request(1, headOfPost, 4);
  client.send(frameType.data, 0, 1, Buffer.alloc(16_000, "x"));
  await before(gateway);
  client.socket.end();
  await eventually(() => client.isClosed || null, "the end of the connection");
  await gateway.seen(/http.version=HTTP\/2 reason=ClientClosed/);
  await expectFree(gateway);
});

it("what a compressed body becomes counts too", async () => {
  const gateway = await startTarget({ config: { maxBufferedBytes: MiB } });
  const headers = { "content-encoding": "gzip" };
  expect(await post(gateway, gzipSync(Buffer.alloc(MiB + 1)), headers)).toBe(503);
  expect(await post(gateway, gzipSync(Buffer.alloc(MiB / 2)), headers)).toBe(200);
});

it("a body in chunks of one byte takes what its bytes take", async () => {
  const gateway = await startTarget({});
  const before = await heldMegabytes(gateway);
  const bytes = 150_000;
  const chunks = Buffer.from("1\r\nx\r\n".repeat(bytes));
  const clients = Array.from({ length: 8 }, () => new RawClient(gateway.port));
  for (const client of clients) {
    client.send("POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(chunks);
  }
  await expectHeld(gateway, 8 * bytes);
  expect((await heldMegabytes(gateway)) - before).toBeLessThan(50);
});

it("a body that comes too slowly is a 408, in both versions of HTTP", async () => {
  const http = { minRequestBodyRate: 1_000_000 };
  const gateway = await startTarget({ frontendPolicies: { http } });
  const client = new RawClient(gateway.port);
  client.send("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2000000\r\n\r\nslow");
  const session = connect(`http://127.0.0.1:${gateway.port}`);
  atEnd(() => session.destroy());
  const stream = session.request({ ":method": "POST", ":path": "/" });
  stream.write("slow");
  const { ":status": status } = await new Promise<Record<string, unknown>>((resolve) =>
    stream.on("response", resolve),
  );
  expect(status).toBe(408);
  await client.closes();
  expect(client.received).toMatch(/^HTTP\/1\.1 408 .*connection: close/is);
});

it("by default a quarter of the memory is theirs", async () => {
  const gateway = await startTarget({});
  const limit = process.constrainedMemory();
  const memory = limit > 0 && limit < totalmem() ? limit : totalmem();
  expect(await figure(gateway, "gwc_buffered_bytes_limit")).toBe(Math.floor(memory / 4));
});
