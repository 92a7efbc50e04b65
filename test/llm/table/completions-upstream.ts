import type OpenAI from "openai";
import { expect } from "vitest";
import { callsOf, type Feature, imageUrl, outputSchema, script, tool } from "./features.ts";
import { callId, dataEvents, type Upstream } from "./upstream.ts";

const usage: OpenAI.CompletionUsage = { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 };

/** A server of chat completions as OpenAI's is: it does not show what the model thought. */
export const completionsUpstream: Upstream = {
  streamType: "text/event-stream",
  whole: ({ text, calls }) => {
    const tool_calls = calls.map(({ id, name, input }, index) => ({
      id: id ?? callId(index),
      type: "function" as const,
      function: { name, arguments: JSON.stringify(input) },
    }));
    return JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "model-1",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: text === "" ? null : text,
            refusal: null,
            ...(calls.length > 0 && { tool_calls }),
          },
          logprobs: null,
          finish_reason: calls.length > 0 ? "tool_calls" : "stop",
        },
      ],
      usage,
    } satisfies OpenAI.ChatCompletion);
  },
  events: ({ text, calls }) => {
    const deltas = [
      { role: "assistant" as const, content: "" },
      ...halves(text).map((content) => ({ content })),
      ...calls.flatMap(({ id, name, input }, index) => [
        {
          tool_calls: [
            {
              index,
              id: id ?? callId(index),
              type: "function" as const,
              function: { name, arguments: "" },
            },
          ],
        },
        ...halves(JSON.stringify(input)).map((piece) => ({
          tool_calls: [{ index, function: { arguments: piece } }],
        })),
      ]),
    ];
    const finish = calls.length > 0 ? "tool_calls" : "stop";
    return [
      ...dataEvents([
        ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
        chunk([{ index: 0, delta: {}, finish_reason: finish }]),
        { ...chunk([]), usage },
      ]),
      "data: [DONE]\n\n",
    ];
  },
  endings: 3,
  error: (status) => ({ body: JSON.stringify({ error: errorOf(status) }) }),
  errorEvent: `data: ${JSON.stringify({ error: errorOf(500) })}\n\n`,
  asked: (feature) => ({
    ...base(feature),
    messages: [
      { role: "system", content: script.system },
      { role: "user", content: userContent(feature) },
    ],
  }),
  replayed: (feature) => {
    const tool_calls = callsOf(feature).map(({ name, input }, index) => ({
      id: callId(index),
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const results = callsOf(feature).map((_, index) => {
      return { role: "tool", tool_call_id: callId(index), content: script.results[index] };
    });
    return {
      messages: [
        expect.anything(),
        expect.anything(),
        expect.objectContaining({ role: "assistant", tool_calls }),
        ...results,
      ],
    };
  },
};

function base(feature: Feature): object {
  const { name, description, schema: parameters } = tool;
  const json_schema = expect.objectContaining({ schema: outputSchema, strict: true });
  return {
    ...(callsOf(feature).length > 0 && {
      tools: [{ type: "function", function: { name, description, parameters } }],
    }),
    ...(feature === "json schema" && { response_format: { type: "json_schema", json_schema } }),
    ...(feature === "reasoning" && { reasoning_effort: "medium" }),
  };
}

function userContent(feature: Feature): unknown {
  const url = imageUrl(feature);
  if (url === undefined) return expect.stringContaining(feature);
  return [
    { type: "text", text: expect.stringContaining(feature) },
    { type: "image_url", image_url: { url } },
  ];
}

function chunk(choices: OpenAI.ChatCompletionChunk.Choice[]): OpenAI.ChatCompletionChunk {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "model-1",
    choices,
  };
}

function errorOf(status: number): object {
  const [type, code] =
    status === 429
      ? ["requests", "rate_limit_exceeded"]
      : [status === 400 ? "invalid_request_error" : "server_error", null];
  return { message: script.fault, type, param: null, code };
}

/** A text in two pieces; the first one ends within a character that JavaScript has two numbers for where it can. */
function halves(text: string): readonly string[] {
  if (text === "") return [];
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
