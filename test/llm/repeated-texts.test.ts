import fc from "fast-check";
import { expect, it } from "vitest";
import type { StreamEvent } from "../../runtime/llm/chat/stream-event.ts";
import { CompletionsEventReader } from "../../runtime/llm/formats/completions/stream-reader.ts";
import { MessagesEventReader } from "../../runtime/llm/formats/messages/stream-reader.ts";
import { ResponsesEventReader } from "../../runtime/llm/formats/responses/stream-reader.ts";
import type { SseEventReader } from "../../runtime/llm/formats/sse-stream-reader.ts";

// Readers recognize an event that differs from the one before only in its text without parsing it. Here each event is also read by a
// reader that has just read the start of the stream, and so parses everything.

/** A reader after the start of a stream. */
type Started = () => SseEventReader;

/** Data of an event with a text, of one with something else, and of one with both or with a text in another place. */
interface Events {
  readonly start: Started;
  readonly text: (text: string, number: number) => string;
  readonly others: readonly ((text: string) => string)[];
}

const json = JSON.stringify;

const chunk = (delta: object, more: object = {}): string =>
  json({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: null }], ...more });

const delta = (delta: object, index = 0): string =>
  json({ type: "content_block_delta", index, delta });

const numbered = (type: string, number: number, fields: object): string =>
  json({ type, sequence_number: number, item_id: "i", output_index: 0, ...fields });

const formats: Readonly<Record<string, Events>> = {
  completions: {
    start: () => started(new CompletionsEventReader(), chunk({ role: "assistant", content: "" })),
    text: (content) => chunk({ content }),
    others: [
      (content) => chunk({ content, refusal: "no" }),
      (content) => chunk({ content, reasoning: "because" }),
      (content) => chunk({ content: [{ type: "text", text: content }] }),
      (content) => chunk({ content }, { usage: { prompt_tokens: 1, completion_tokens: 2 } }),
      (refusal) => chunk({ refusal }),
    ],
  },
  messages: {
    start: () => started(new MessagesEventReader(), json({ type: "message_start", message: {} })),
    text: (text) => delta({ type: "text_delta", text }),
    others: [
      (text) => delta({ type: "text_delta", text }, 1),
      (thinking) => delta({ type: "thinking_delta", thinking }),
      (text) =>
        json({ type: "content_block_start", index: 1, content_block: { type: "text", text } }),
    ],
  },
  responses: {
    start: () => started(new ResponsesEventReader(), numbered("response.created", 0, {})),
    text: (text, number) => numbered("response.output_text.delta", number, { delta: text }),
    others: [
      (text) => numbered("response.refusal.delta", 7, { delta: text }),
      (text) => numbered("response.reasoning_text.delta", 8, { delta: text }),
    ],
  },
};

function started(reader: SseEventReader, data: string): SseEventReader {
  reader.read(data);
  return reader;
}

/** Pieces that are words of the formats, need escapes, or are no ASCII. */
const piece = fc.oneof(
  fc.constantFrom("", "text", "content", "delta", " word", '"', "\\", "\n", '","text":"x', "}"),
  fc.string({ unit: "binary" }),
  fc.string(),
);

for (const [name, { start, text, others }] of Object.entries(formats)) {
  it(`${name}: an event with a text is read the same whatever came before`, () => {
    const event = fc.tuple(piece, fc.nat({ max: others.length * 4 }));
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const reader = start();
        for (const [number, [own, kind]] of events.entries()) {
          const data = (others[kind] ?? text)(own, number);
          expect(reader.read(data)).toEqual(alone(start, data));
        }
      }),
      { numRuns: 2_000 },
    );
  });
}

function alone(start: Started, data: string): readonly StreamEvent[] {
  return start().read(data);
}
