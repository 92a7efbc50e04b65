import fc from "fast-check";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType } from "../harness/frame-client.ts";
import { startGateway } from "../harness/gateway.ts";
import { startOrigin } from "./origin.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 200 : 5_000;

type Field = readonly [name: string, value: string];

/** Characters that end a field or a line in HTTP/1.1, or have another meaning there. */
const mean = fc.constantFrom(
  "\r\n",
  "\n",
  "\r",
  "\0",
  "\r\n\r\n",
  ": ",
  " ",
  "\t",
  "\x80",
  " HTTP/1.1\r\nHost: b\r\n\r\nGET /smuggled",
  "chunked",
  "0",
);
const piece = fc.oneof(mean, fc.string({ maxLength: 6 }));
const value = fc.array(piece, { maxLength: 3 }).map((parts) => latin1(parts.join("")));

/** Names that HTTP/1.1 frames a message by, and any others. */
const name = fc.oneof(
  fc.constantFrom(
    "transfer-encoding",
    "content-length",
    "connection",
    "host",
    "upgrade",
    "te",
    "trailer",
    "keep-alive",
    "proxy-connection",
    "expect",
    "cookie",
    "x-own",
    "X-Own",
    ":path",
    ":method",
    ":authority",
    ":scheme",
    ":status",
    ":protocol",
  ),
  fc.array(piece, { maxLength: 2 }).map((parts) => latin1(parts.join(""))),
);

/** A head with up to three fields too many or changed, and a body. */
const request = fc.record({
  method: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("GET", "POST") },
    { weight: 1, arbitrary: value },
  ),
  path: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("/", "/a?b=c") },
    { weight: 1, arbitrary: value.map((text) => `/${text}`) },
  ),
  authority: fc.oneof(
    { weight: 6, arbitrary: fc.constant("a.test") },
    { weight: 1, arbitrary: value },
  ),
  fields: fc.array(fc.tuple(name, value), { maxLength: 3 }),
  body: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }),
});

function latin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

it("whatever a head of HTTP/2 says, the origin sees one right request for each response, or none", async () => {
  const origin = await startOrigin();
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: origin.host }] }] }],
  });
  let [served, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, authority, fields, body }) => {
      const client = new FrameClient(gateway.port);
      const head: Field[] = [
        [":method", method],
        [":scheme", "http"],
        [":path", path],
        [":authority", authority],
        ...fields,
      ];
      client.request(1, head, body === undefined ? 5 : 4);
      if (body !== undefined) client.send(frameType.data, 1, 1, Buffer.from(body));
      const isOver = () =>
        client.isClosed ||
        client.last(frameType.goaway, 0) !== undefined ||
        client.last(frameType.reset, 1) !== undefined ||
        client.frames.some(({ stream, flags }) => stream === 1 && (flags & 1) === 1);
      await eventually(() => isOver() || null, `an end of ${JSON.stringify(head)}`);
      client.socket.destroy();
      // 0x88 is the indexed status 200 (RFC 7541, appendix A).
      const isServed = client.last(frameType.headers, 1)?.payload[0] === 0x88;
      const seen = origin.requests.splice(0);
      expect(origin.faults).toEqual([]);
      expect(seen).toHaveLength(isServed ? 1 : 0);
      if (!isServed) {
        refused += 1;
        return;
      }
      served += 1;
      const [one] = seen;
      expect([one?.method, one?.target, one?.body]).toEqual([method, path, body ?? ""]);
      const names = one?.headers.map(([each]) => each.toLowerCase()) ?? [];
      const framing = ["upgrade", "te", "trailer", "keep-alive", "proxy-connection", "expect"];
      expect(names.filter((each) => framing.includes(each))).toEqual([]);
    }),
    { seed: 5, numRuns: RUNS },
  );
  expect(served).toBeGreaterThan(RUNS / 20);
  expect(refused).toBeGreaterThan(RUNS / 20);
  expect(origin.bytes()).not.toMatch(/^GET \/smuggled/m);
}, 300_000);
