import { describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType, get, headerBlock, post } from "../harness/frame-client.ts";
import { heldMegabytes } from "../harness/held-memory.ts";
import { pause } from "../harness/pause.ts";
import { ask, open, startEcho } from "./http2-client.ts";

/** The bytes of a stream's first frame of headers; 0x88 and 0x8c are the indexed statuses 200 and 400. */
function status(client: FrameClient, stream: number): number | undefined {
  const payload = client.last(frameType.headers, stream)?.payload;
  if (payload === undefined) return undefined;
  if (payload[0] === 0x88) return 200;
  if (payload[0] === 0x8c) return 400;
  return Number(/\d{3}/.exec(payload.toString("latin1"))?.[0] ?? 1);
}

describe("requests that would mean two things", () => {
  const isDropped: ReadonlySet<string> = new Set([
    "a line break in a header",
    "a NUL in a header",
    "a name with a line break",
  ]);
  const malformed: readonly [string, readonly (readonly [string, string])[]][] = [
    ["a line break in a header", [...get, ["x", "a\r\nhost: b"]]],
    ["a NUL in a header", [...get, ["x", "a\0b"]]],
    ["a name in upper case", [...get, ["X-Up", "a"]]],
    ["a name with a line break", [...get, ["x: y\r\nz", "a"]]],
    ["transfer-encoding", [...post, ["transfer-encoding", "chunked"]]],
    ["connection", [...get, ["connection", "x-own"]]],
    ["a pseudo header behind others", [...get.slice(0, 3), ["x", "a"], [":authority", "b"]]],
    ["two paths", [...get, [":path", "/admin"]]],
    ["no path", [...get.slice(0, 2), [":authority", "a"]]],
    ["an unknown pseudo header", [...get, [":own", "a"]]],
    ["another host than the authority", [...get, ["host", "b"]]],
    ["an authority with a path", [...get.slice(0, 3), [":authority", "a/b"]]],
    ["an authority with a user", [...get.slice(0, 3), [":authority", "u@a"]]],
    ["no authority and no host", [...get.slice(0, 3)]],
    [
      "a path with a space",
      [
        [":method", "GET"],
        [":scheme", "http"],
        [":path", "/ HTTP/1.1\r\nx: y"],
        [":authority", "a"],
      ],
    ],
    [
      "a path without a slash",
      [
        [":method", "GET"],
        [":scheme", "http"],
        [":path", "a"],
        [":authority", "a"],
      ],
    ],
    [
      "a path above the root",
      [
        [":method", "GET"],
        [":scheme", "http"],
        [":path", "/a/../../b"],
        [":authority", "a"],
      ],
    ],
    ["a method with a space", [[":method", "GET / HTTP/1.1"], ...get.slice(1)]],
    [
      "CONNECT",
      [
        [":method", "CONNECT"],
        [":authority", "a:443"],
      ],
    ],
    ["two lengths", [...post, ["content-length", "1"], ["content-length", "2"]]],
    ["a length with a sign", [...post, ["content-length", "+1"]]],
    ["a length without a body", [...post, ["content-length", "5"]]],
  ];

  it("are refused, or arrive without what is wrong with them", async () => {
    const { port, reached } = await startEcho();
    for (const [name, headers] of malformed) {
      const client = new FrameClient(port);
      client.request(1, headers);
      const look = () =>
        client.isClosed ||
        client.last(frameType.reset, 1) !== undefined ||
        status(client, 1) !== undefined ||
        null;
      await eventually(look, `a refusal of ${name}`);
      // nghttp2 leaves out a field that can't be one; the request is then one that means one thing.
      const wanted = isDropped.has(name) ? ["GET / host,connection"] : [];
      expect(reached, name).toEqual(wanted);
      reached.length = 0;
    }
  });

  it("a body that is longer or shorter than its length never reaches an upstream whole", async () => {
    const { port, reached } = await startEcho();
    for (const body of ["abc", "abcdefghijGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n"]) {
      const client = new FrameClient(port);
      client.request(1, [...post, ["content-length", "10"]], 4);
      client.send(frameType.data, 1, 1, Buffer.from(body));
      await eventually(
        () => client.isClosed || client.last(frameType.reset, 1) !== undefined || null,
        "a reset",
      );
      expect(status(client, 1)).not.toBe(200);
    }
    await pause(50);
    expect(reached.filter((each) => each.includes("smuggled"))).toEqual([]);
  });
});

describe("floods", () => {
  it("more headers than are allowed are answered 431, many more reset the stream", async () => {
    const { port } = await startEcho({ frontendPolicies: { http: { http1MaxHeaders: 20 } } });
    const many = (count: number) => Array.from({ length: count }, () => ["x", "y"] as const);
    const client = new FrameClient(port);
    client.request(1, [...get, ...many(20)]);
    await eventually(() => status(client, 1) ?? null, "a response");
    expect(status(client, 1)).toBe(431);
    const next = new FrameClient(port);
    next.request(1, [...get, ...many(200)]);
    await eventually(() => next.isClosed || next.last(frameType.reset, 1) || null, "a reset");
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });

  it.each([
    [
      "resets of streams",
      (client: FrameClient, round: number) => {
        client.request(2 * round + 1, get);
        client.send(frameType.reset, 0, 2 * round + 1, Buffer.from([0, 0, 0, 8]));
      },
    ],
    [
      "CONTINUATION frames without an end",
      (client: FrameClient, round: number) => {
        if (round === 0) client.request(1, get, 1);
        client.send(9, 0, 1, headerBlock([["x", "y"]]));
      },
    ],
    [
      "resets that it makes the gateway send",
      (client: FrameClient, round: number) => {
        client.request(2 * round + 1, get, 4);
        // A window that overflows is an error of the stream (RFC 9113 6.9.1).
        client.send(8, 0, 2 * round + 1, Buffer.from([0x7f, 0xff, 0xff, 0xff]));
      },
    ],
    [
      "SETTINGS whose responses it does not read",
      (client: FrameClient) => {
        client.socket.pause();
        client.send(frameType.settings, 0, 0);
      },
    ],
    [
      "PINGs whose responses it does not read",
      (client: FrameClient) => {
        client.socket.pause();
        client.send(frameType.ping, 0, 0, Buffer.alloc(8));
      },
    ],
  ])(
    "a client that floods with %s loses its connection, the others are served",
    async (_name, send) => {
      const { gateway, port } = await startEcho();
      const honest = open(`http://127.0.0.1:${port}`);
      await ask(honest, { ":path": "/" });
      const before = await heldMegabytes(gateway);
      const client = new FrameClient(port);
      // Enough to fill what the kernel keeps of its responses for who does not read them: a dozen megabytes.
      for (let round = 0; round < 2_000_000 && !client.isClosed; round++) {
        send(client, round);
        if (round % 500 === 0) await pause(1);
        if (client.frames.some((each) => each.type === frameType.goaway)) break;
      }
      client.socket.resume();
      await eventually(
        () => client.isClosed || client.last(frameType.goaway, 0) !== undefined || null,
        "the end of the connection",
      );
      expect((await ask(honest, { ":path": "/" })).headers[":status"]).toBe(200);
      expect((await heldMegabytes(gateway)) - before).toBeLessThan(10);
    },
  );
});
