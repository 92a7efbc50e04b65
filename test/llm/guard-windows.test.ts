import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StreamStep } from "../../runtime/llm/chat/stream-step.ts";
import { completionsTexts } from "../../runtime/llm/formats/completions/texts.ts";
import { messagesTexts } from "../../runtime/llm/formats/messages/texts.ts";
import { responsesTexts } from "../../runtime/llm/formats/responses/texts.ts";
import { GuardRun } from "../../runtime/llm/guards/guard-run.ts";
import { ServerGuardStep } from "../../runtime/llm/guards/server-step.ts";

/** No longer than a quarter of the window: words that are asked about whole, wherever a window ends. */
const words = /abc|x😀z|🙂🙂/gu;
const pieces = fc.array(
  fc
    .array(fc.constantFrom("a", "b", "c", "abc", "x", "😀", "🙂", "z", " ", "\n", '"'), {
      maxLength: 6,
    })
    .map((each) => each.join("")),
  { maxLength: 30 },
);

interface Asked {
  readonly texts: readonly string[];
}

/** A guard whose server replaces the words, some time later. */
function replacing(asked: Asked[], window: number): ServerGuardStep {
  return new ServerGuardStep({
    kind: "test",
    window,
    passesOnFailure: false,
    rejection: { status: 403, message: "no" },
    check: async ({ texts: given }) => {
      const texts = given.map(({ text }) => text);
      asked.push({ texts });
      await new Promise(setImmediate);
      return { kind: "mask", texts: texts.map((text) => text.replaceAll(words, "#")) };
    },
  });
}

const formats = {
  completions: {
    format: completionsTexts,
    event: (content: string, index: number, _: number) =>
      `data: ${JSON.stringify({ id: "c", choices: [{ index, delta: { content }, finish_reason: null }] })}\n\n`,
    end: "data: [DONE]\n\n",
    read: (event: Data) => {
      const choice = event.choices?.[0];
      return [choice?.index ?? 0, choice?.delta.content ?? ""] as const;
    },
  },
  messages: {
    format: messagesTexts,
    event: (text: string, index: number, _: number) =>
      `event: content_block_delta\ndata: ${JSON.stringify({ type: "content_block_delta", index, delta: { type: "text_delta", text } })}\n\n`,
    end: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    read: (event: Data) => [event.index ?? 0, event.delta?.text ?? ""] as const,
  },
  responses: {
    format: responsesTexts,
    event: (delta: string, output_index: number, sequence_number: number) =>
      `event: response.output_text.delta\ndata: ${JSON.stringify({ type: "response.output_text.delta", output_index, delta, sequence_number })}\n\n`,
    end: 'event: response.completed\ndata: {"type":"response.completed","response":{}}\n\n',
    read: (event: Data) =>
      [event.output_index ?? 0, typeof event.delta === "string" ? event.delta : ""] as const,
  },
} as const;

/** The members of an event that the test reads. */
interface Data {
  readonly choices?: readonly { index: number; delta: { content?: string } }[];
  readonly index?: number;
  readonly output_index?: number;
  readonly sequence_number?: number;
  // biome-ignore lint/suspicious/noExplicitAny: an object or a text, by the format.
  readonly delta?: any;
}

/** All that comes out of a stream, step by step. */
async function guarded(
  step: ServerGuardStep,
  name: keyof typeof formats,
  events: readonly string[],
): Promise<readonly StreamStep[]> {
  const steps: StreamStep[] = [];
  const run = new GuardRun("response");
  await new Promise<void>((resolve) => {
    const stage = step.openStage(formats[name].format, run, (each) => {
      steps.push(each);
      if (each.state !== "open") resolve();
    });
    events.forEach((event, index) => {
      const state = index === events.length - 1 ? "ended" : "open";
      stage.push({ output: [Buffer.from(event)], hasContent: true, state });
    });
  });
  return steps;
}

describe.each(Object.keys(formats) as (keyof typeof formats)[])("a stream of %s", (name) => {
  const { event, end, read } = formats[name];

  it("reads as its whole texts do, window by window, in its order", async () => {
    const given = fc.asyncProperty(pieces, fc.constantFrom(16, 32, 64), async (parts, window) => {
      const asked: Asked[] = [];
      // Two texts by turns.
      const events = parts.map((part, index) => event(part, index % 2, index));
      const steps = await guarded(replacing(asked, window), name, [...events, end]);
      const texts = ["", ""];
      const numbers: number[] = [];
      for (const output of steps.flatMap((each) => each.output)) {
        const data = /^data: (\{.*)$/m.exec(output.toString())?.[1];
        if (data === undefined) continue;
        const value = JSON.parse(data);
        const [index, text] = read(value);
        texts[index] += text;
        if (value.sequence_number !== undefined) numbers.push(value.sequence_number);
      }
      const whole = (index: number) => parts.filter((_, at) => at % 2 === index).join("");
      expect(texts).toEqual([0, 1].map((index) => whole(index).replaceAll(words, "#")));
      expect(numbers).toEqual(numbers.map((_, index) => index + (numbers[0] ?? 0)));
      // Nobody is asked about more than a window, and the piece that fills it.
      const longest = Math.max(0, ...parts.map(({ length }) => length));
      for (const text of asked.flatMap(({ texts: seen }) => seen)) {
        expect(text.length).toBeLessThan(window + longest);
      }
    });
    await fc.assert(given, { numRuns: 1_000 });
  });

  it("goes out byte for byte when nothing is found", async () => {
    const asked: Asked[] = [];
    const events = Array.from({ length: 40 }, (_, index) => event("Hello, all. ", 0, index));
    const steps = await guarded(replacing(asked, 64), name, [...events, end]);
    expect(steps.flatMap(({ output }) => output).map(String)).toEqual(
      name === "responses" ? expect.arrayContaining(events) : [...events, end],
    );
  });
});
