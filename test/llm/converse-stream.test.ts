import fc from "fast-check";
import { expect, it } from "vitest";
import { AwsEventReader } from "../../runtime/http/body/aws-event-stream.ts";
import type { StreamEvent } from "../../runtime/llm/chat/stream-event.ts";
import { ConverseStreamReader } from "../../runtime/llm/formats/converse/stream-reader.ts";
import { awsEvent, awsException } from "../harness/aws-event-stream.ts";

const stream = Buffer.concat([
  awsEvent("messageStart", { role: "assistant" }),
  awsEvent("contentBlockDelta", {
    contentBlockIndex: 0,
    delta: { reasoningContent: { text: "é" } },
  }),
  awsEvent("contentBlockDelta", {
    contentBlockIndex: 0,
    delta: { reasoningContent: { signature: "s" } },
  }),
  awsEvent("contentBlockDelta", { contentBlockIndex: 1, delta: { text: "Hello ✓ 😀" } }),
  awsEvent("contentBlockStart", {
    contentBlockIndex: 7,
    start: { toolUse: { toolUseId: "t", name: "n" } },
  }),
  awsEvent("contentBlockDelta", { contentBlockIndex: 7, delta: { toolUse: { input: "{}" } } }),
  awsEvent("messageStop", { stopReason: "tool_use" }),
  awsEvent("metadata", { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } }),
]);

const read: readonly StreamEvent[] = [
  { kind: "start", id: undefined, model: "" },
  { kind: "reasoning", text: "é" },
  { kind: "signature", signature: "s" },
  { kind: "text", text: "Hello ✓ 😀" },
  { kind: "tool-call", index: 0, id: "t", name: "n" },
  { kind: "tool-input", index: 0, text: "{}" },
  { kind: "stop", reason: "tool-calls", stopSequence: undefined },
  {
    kind: "usage",
    usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: undefined },
  },
  { kind: "end" },
];

/** Returns what a reader finds in pieces of a stream and at its end. */
function readAll(pieces: readonly Buffer[], limit = 1_000_000): readonly StreamEvent[] {
  const reader = new ConverseStreamReader(limit);
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
}

function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const sorted = [0, ...places.toSorted((a, b) => a - b), bytes.length];
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

const place = fc.integer({ min: 0, max: stream.length });

it("a stream reads the same however it is cut", () => {
  expect(readAll([stream])).toEqual(read);
  fc.assert(
    fc.property(fc.array(place, { maxLength: 40 }), (places) => {
      expect(readAll(cut(stream, places))).toEqual(read);
    }),
    { numRuns: 1000 },
  );
});

it("a stream that ends too soon ends with an error", () => {
  for (let end = 0; end < stream.length; end++) {
    const last = readAll([stream.subarray(0, end)]).at(-1);
    const hasStopped = readAll([stream.subarray(0, end)]).some(({ kind }) => kind === "stop");
    expect(last?.kind).toBe(hasStopped ? "end" : "error");
  }
});

it("a changed byte ends the stream with an error", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: stream.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      fc.array(place, { maxLength: 5 }),
      (at, change, places) => {
        const changed = Buffer.from(stream);
        changed[at] = (changed[at] ?? 0) ^ change;
        const events = readAll(cut(changed, places));
        expect(events.at(-1)?.kind).toBe("error");
        expect(events.slice(0, -1)).toEqual(read.slice(0, events.length - 1));
      },
    ),
    { numRuns: 1000 },
  );
});

it("an exception ends a stream", () => {
  const broken = Buffer.concat([awsException("throttlingException", "slow down"), stream]);
  expect(readAll([broken])).toEqual([
    { kind: "error", error: { kind: "rate-limit", message: "slow down" } },
  ]);
});

it("a message over the limit is refused when its length is known", () => {
  const reader = new AwsEventReader(64);
  expect(reader.push(stream.subarray(0, 12))).toEqual([]);
  expect(reader.fault).toBe("too-long");
  expect(reader.push(stream.subarray(12))).toEqual([]);
});
