import { FinishReason } from "@google/genai";
import { array, assert, nat, property } from "fast-check";
import { expect, it } from "vitest";
import { generateContentUpstream } from "../../runtime/llm/formats/generate-content/upstream.ts";
import type { GenerateContentPiece } from "../harness/generate-content.ts";

const pieces: readonly GenerateContentPiece[] = [
  { responseId: "r", modelVersion: "gemini", candidates: [parts({ text: "Hm…", thought: true })] },
  { candidates: [parts({ text: "Grüße 🌍" })], usageMetadata: { promptTokenCount: 3 } },
  {
    candidates: [
      parts(
        { functionCall: { id: "a", name: "f", args: { n: 1 } }, thoughtSignature: "c2ln" },
        { functionCall: { id: "b", name: "g" } },
      ),
    ],
  },
  {
    candidates: [{ finishReason: FinishReason.STOP }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 1 },
  },
];

function parts(...each: object[]) {
  return { content: { role: "model", parts: each } };
}

const stream = Buffer.from(
  `: comment\r\n\r\n${pieces.map((piece) => `data: ${JSON.stringify(piece)}\r\n\r\n`).join("")}`,
);

/** Reads a stream in pieces. */
function read(chunks: readonly Buffer[]): string {
  const reader = generateContentUpstream.openStream(65_536);
  const events = [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
  return JSON.stringify(events, undefined, 1);
}

it("reads a stream with thoughts, calls and one usage at its end", () => {
  expect(JSON.parse(read([stream]))).toEqual([
    { kind: "start", id: "r", model: "gemini" },
    { kind: "reasoning", text: "Hm…" },
    { kind: "text", text: "Grüße 🌍" },
    { kind: "signature", signature: "google:c2ln" },
    { kind: "tool-call", index: 0, id: "a", name: "f", signature: "c2ln" },
    { kind: "tool-input", index: 0, text: '{"n":1}' },
    { kind: "tool-call", index: 1, id: "b", name: "g" },
    { kind: "tool-input", index: 1, text: "{}" },
    { kind: "stop", reason: "tool-calls" },
    { kind: "usage", usage: { input: 3, cacheRead: 0, cacheWrite: 0, output: 3, reasoning: 1 } },
    { kind: "end" },
  ]);
});

it("a stream reads the same wherever the network cuts it", () => {
  const whole = read([stream]);
  const cuts = array(nat(stream.length), { maxLength: 12 });
  assert(
    property(cuts, (positions) => {
      const ends = [...new Set([...positions, stream.length])].toSorted((a, b) => a - b);
      const chunks = ends.map((end, index) => stream.subarray(ends[index - 1] ?? 0, end));
      return read(chunks) === whole;
    }),
    { numRuns: 1000 },
  );
});

it("a stream that is cut is an error wherever it is cut before the finish", () => {
  const last = stream.lastIndexOf("data:");
  for (let end = 0; end <= last; end += 7) {
    expect(JSON.parse(read([stream.subarray(0, end)])).at(-1).kind).toBe("error");
  }
});
