import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType, get, headerBlock, post } from "../harness/frame-client.ts";
import { startGateway } from "../harness/gateway.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { pause } from "../harness/pause.ts";
import { startUpstream } from "../harness/upstream.ts";

const frames = { priority: 2, windowUpdate: 8, unknown: 0x77 } as const;

async function startTarget() {
  const host = await startUpstream((request, response) => {
    request.on("error", () => {});
    request.resume();
    request.on("end", () => response.end("ok"));
  });
  return startGateway({ listeners: [{ routes: [{ backends: [{ host }] }] }] });
}

/** A field of 4,000 bytes that goes into the dynamic table, and then its index again and again (RFC 7541 6.2.1, 6.1). */
function expandingBlock(): Buffer {
  const literal = headerBlock([["x-bomb", "b".repeat(3_900)]]);
  literal[0] = 0x40;
  return Buffer.concat([headerBlock(get), literal, Buffer.alloc(15_000, 0xbe)]);
}

const floods: readonly (readonly [
  name: string,
  send: (client: FrameClient, round: number) => void,
])[] = [
  [
    "empty pieces of a body",
    (client, round) => {
      if (round === 0) client.request(1, post, 4);
      client.send(frameType.data, 0, 1);
    },
  ],
  [
    "bodies of padding",
    (client, round) => {
      if (round === 0) client.request(1, post, 4);
      client.send(frameType.data, 8, 1, Buffer.concat([Buffer.from([200]), Buffer.alloc(200)]));
    },
  ],
  [
    "priorities",
    (client, round) => client.send(frames.priority, 0, 2 * round + 1, Buffer.from([0, 0, 0, 0, 9])),
  ],
  [
    "windows that grow by nothing",
    (client) => client.send(frames.windowUpdate, 0, 0, Buffer.alloc(4)),
  ],
  ["frames that nobody knows", (client) => client.send(frames.unknown, 0, 0, Buffer.alloc(1000))],
  [
    "heads that unpack to 60 MB",
    (client, round) => client.send(frameType.headers, 5, 2 * round + 1, expandingBlock()),
  ],
  [
    "requests whose responses it does not read",
    (client, round) => {
      client.socket.pause();
      client.request(2 * round + 1, get);
    },
  ],
];

it.each(floods)("a flood of %s costs little, and others are served", async (_name, send) => {
  const gateway = await startTarget();
  const url = `http://127.0.0.1:${gateway.port}/`;
  expect((await fetch(url)).status).toBe(200);
  const before = await heldMegabytes(gateway);
  const client = new FrameClient(gateway.port);
  const isEnded = () => client.isClosed || client.last(frameType.goaway, 0) !== undefined;
  for (let round = 0; round < 20_000 && !isEnded(); round++) {
    // A connection that is no longer read is a flood that has ended, too.
    if (client.socket.writableLength > 4_000_000) break;
    send(client, round);
    if (round % 500 === 0) await pause(1);
  }
  expect((await fetch(url)).status).toBe(200);
  expect((await heldMegabytes(gateway)) - before).toBeLessThan(30);
  client.socket.destroy();
  await eventually(() => client.isClosed || null, "the end of the connection");
  expect((await fetch(url)).status).toBe(200);
});

it("connections that never finish a head, or a frame, are closed when they are idle; others are served", async () => {
  const host = await startUpstream((_request, response) => response.end("ok"));
  const file = { frontendPolicies: { http: { http1IdleTimeout: "1s" } } };
  const gateway = await startGateway({
    file,
    listeners: [{ routes: [{ backends: [{ host }] }] }],
  });
  const before = await heldMegabytes(gateway);
  const clients = Array.from({ length: 150 }, () => new FrameClient(gateway.port));
  for (const [number, client] of clients.entries()) {
    // Half a block of fields, a frame that is announced and does not come, and nothing but the preface.
    if (number % 3 === 0) client.send(frameType.headers, 0, 1, headerBlock(get));
    if (number % 3 === 1) client.socket.write(Buffer.from([0, 0x10, 0, 1, 5, 0, 0, 0, 1, 0x82]));
  }
  // A connection of its own each: the gateway closes idle ones here.
  const ask = async () =>
    (await fetch(`http://127.0.0.1:${gateway.port}/`, { headers: { connection: "close" } })).status;
  expect(await ask()).toBe(200);
  expect((await heldMegabytes(gateway)) - before).toBeLessThan(30);
  await eventually(() => clients.every(({ isClosed }) => isClosed) || null, "the end of all");
  expect((await heldMegabytes(gateway)) - before).toBeLessThan(5);
  expect(await ask()).toBe(200);
});
