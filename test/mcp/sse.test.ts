import fc from "fast-check";
import { expect, it } from "vitest";
import { SseFrames, SseReader, sseMessage } from "../../runtime/http/body/sse.ts";

const stream = Buffer.from(
  '\uFEFF: comment\r\n\r\nid: 1\r\nevent: message\r\ndata: {"a":\r\ndata:1}\r\n\r\n' +
    "data\rdata:  x\r\rretry: 10\nid\n\ndata: ü\u2028😀\n\n\n\nid: a\0b\ndata: last\n\ndata: never ended",
);
const expected = [
  { name: "", data: undefined, id: undefined, retry: undefined },
  { name: "message", data: '{"a":\n1}', id: "1", retry: undefined },
  { name: "", data: "\n x", id: undefined, retry: undefined },
  { name: "", data: undefined, id: "", retry: "10" },
  { name: "", data: "ü\u2028😀", id: undefined, retry: undefined },
  { name: "", data: "last", id: undefined, retry: undefined },
];

/** Returns the events of the stream, cut into pieces at the given places, without empty ones. */
function read(cuts: readonly number[]) {
  const reader = new SseReader(1000);
  const raw: Buffer[] = [];
  const events = [];
  let from = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), stream.length]) {
    for (const { raw: bytes, ...event } of reader.push(stream.subarray(from, cut)) ?? []) {
      raw.push(bytes);
      const isEmpty = event.data === undefined && event.id === undefined && raw.length > 1;
      if (!isEmpty) events.push(event);
    }
    from = cut;
  }
  return { events, raw: Buffer.concat(raw) };
}

it("a stream has the same events however it is cut", () => {
  for (let cut = 0; cut <= stream.length; cut++) expect(read([cut]).events).toEqual(expected);
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
      const { events, raw } = read(cuts);
      expect(events).toEqual(expected);
      expect(stream.subarray(0, raw.length).equals(raw)).toBe(true);
    }),
  );
});

it("an event has its whole blank line, however the stream is cut", () => {
  const sent = ["data: a\r\n\r\n", ": b\r\n\r\n", "data: c\r\ndata: d\r\n\r\n"];
  const bytes = Buffer.from(sent.join(""));
  for (let cut = 0; cut <= bytes.length; cut++) {
    const frames = new SseFrames(1000);
    const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
    expect(pieces.flatMap((piece) => frames.push(piece) ?? []).map(String)).toEqual(sent);
  }
});

it("an event of lines that end in CR is complete with its blank line", () => {
  const frames = new SseFrames(1000);
  expect(frames.push(Buffer.from("data: a\r\r"))?.map(String)).toEqual(["data: a\r\r"]);
});

it("an event over the limit is refused, at once or in pieces", () => {
  const reader = new SseReader(100);
  expect(reader.push(Buffer.from(`data: ${"x".repeat(60)}`))).toEqual([]);
  expect(reader.push(Buffer.from("x".repeat(60)))).toBeUndefined();
});

it("a message is one event, whatever line breaks it contains", () => {
  const breaks = fc.stringMatching(/^[ \r\n]{0,3}$/);
  fc.assert(
    fc.property(fc.jsonValue(), breaks, (value, blank) => {
      const text = `${blank}${JSON.stringify(value)}${blank}`;
      const events = new SseReader(1_000_000).push(Buffer.from(sseMessage(text))) ?? [];
      expect(events.length).toBe(1);
      expect(JSON.parse(events[0]?.data ?? "")).toEqual(JSON.parse(text));
    }),
  );
});
