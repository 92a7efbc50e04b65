import type OpenAI from "openai";
import { expect } from "vitest";
import {
  callsOf,
  type Feature,
  imageUrl,
  outputSchema,
  type Reading,
  script,
  tool,
} from "./features.ts";
import { callId, namedEvents, type TypedEvent, type Upstream } from "./upstream.ts";

type Item = OpenAI.Responses.ResponseOutputItem;

/** A server of OpenAI's Responses API. */
export const responsesUpstream: Upstream = {
  streamType: "text/event-stream",
  whole: (said) => JSON.stringify(responseOf("completed", items(said))),
  events: (said) => {
    const all = items(said);
    const events = [
      { type: "response.created", response: responseOf("in_progress", []) },
      ...all.flatMap(itemEvents),
      { type: "response.completed", response: responseOf("completed", all) },
    ];
    return numbered(events);
  },
  endings: 1,
  error: (status) => ({ body: JSON.stringify({ error: errorOf(status) }) }),
  errorEvent: numbered([
    { type: "error", code: "server_error", message: script.fault, param: null },
  ]).join(""),
  asked,
  replayed: (feature) => ({
    input: [
      expect.anything(),
      ...(feature === "reasoning" ? [expect.objectContaining(reasoningItem(script.thought))] : []),
      ...callsOf(feature).map(({ name, input }, index) =>
        expect.objectContaining({
          type: "function_call",
          call_id: callId(index),
          name,
          arguments: JSON.stringify(input),
        }),
      ),
      ...callsOf(feature).map((_, index) => ({
        type: "function_call_output",
        call_id: callId(index),
        output: script.results[index],
      })),
    ],
  }),
};

function reasoningItem(text: string): Item {
  const summary = [{ type: "summary_text" as const, text }];
  return { id: "rs_1", type: "reasoning", summary, encrypted_content: script.signature };
}

function items({ text, reasoning, calls }: Reading): readonly Item[] {
  return [
    ...(reasoning === "" ? [] : [reasoningItem(reasoning)]),
    ...(text === "" ? [] : [messageItem(text)]),
    ...calls.map(({ id, name, namespace, input }, index) => ({
      id: `fc_${index}`,
      type: "function_call" as const,
      status: "completed" as const,
      call_id: id ?? callId(index),
      name,
      ...(namespace !== undefined && { namespace }),
      arguments: JSON.stringify(input),
    })),
  ];
}

function messageItem(text: string): OpenAI.Responses.ResponseOutputMessage {
  const content = [{ type: "output_text" as const, text, annotations: [], logprobs: [] }];
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content };
}

function itemEvents(item: Item, output_index: number): TypedEvent[] {
  const { id } = item;
  const place = { item_id: id, output_index, content_index: 0 };
  const around = (begun: object, ...inner: TypedEvent[]) => [
    { type: "response.output_item.added", output_index, item: begun },
    ...inner,
    { type: "response.output_item.done", output_index, item },
  ];
  if (item.type === "message") {
    const [part] = item.content;
    const text = part?.type === "output_text" ? part.text : "";
    const empty = { type: "output_text", text: "", annotations: [], logprobs: [] };
    return around(
      { ...item, status: "in_progress", content: [] },
      { type: "response.content_part.added", ...place, part: empty },
      ...[...text].map((delta) => {
        return { type: "response.output_text.delta", ...place, delta, logprobs: [] };
      }),
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      { type: "response.content_part.done", ...place, part },
    );
  }
  if (item.type === "function_call") {
    const { arguments: input, name } = item;
    const call = { item_id: id, output_index };
    return around(
      { ...item, status: "in_progress", arguments: "" },
      { type: "response.function_call_arguments.delta", ...call, delta: input },
      { type: "response.function_call_arguments.done", ...call, arguments: input, name },
    );
  }
  const summary = item.type === "reasoning" ? item.summary : [];
  const at = { item_id: id, output_index, summary_index: 0 };
  const empty = { type: "summary_text", text: "" };
  return around(
    { ...item, summary: [] },
    { type: "response.reasoning_summary_part.added", ...at, part: empty },
    ...summary.map(({ text }) => {
      return { type: "response.reasoning_summary_text.delta", ...at, delta: text };
    }),
    ...summary.map(({ text }) => ({ type: "response.reasoning_summary_text.done", ...at, text })),
    ...summary.map((part) => ({ type: "response.reasoning_summary_part.done", ...at, part })),
  );
}

function numbered(events: readonly TypedEvent[]): readonly string[] {
  return namedEvents(events.map((event, sequence_number) => ({ ...event, sequence_number })));
}

function responseOf(
  status: OpenAI.Responses.ResponseStatus,
  output: readonly Item[],
): Omit<OpenAI.Responses.Response, "output_text"> {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status,
    model: "model-1",
    output: [...output],
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    top_p: 1,
    tool_choice: "auto",
    tools: [],
    usage: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 16,
    },
  };
}

function errorOf(status: number): object {
  const code = status === 429 ? "rate_limit_exceeded" : null;
  return { message: script.fault, type: "invalid_request_error", param: null, code };
}

function asked(feature: Feature): object {
  const { name, description, schema: parameters } = tool;
  const url = imageUrl(feature);
  const image = { type: "input_image", detail: "auto", image_url: url };
  const format = { type: "json_schema", schema: outputSchema };
  return {
    instructions: script.system,
    input: [
      {
        role: "user",
        content:
          url !== undefined
            ? [{ type: "input_text", text: expect.stringContaining(feature) }, image]
            : expect.stringContaining(feature),
      },
    ],
    ...(callsOf(feature).length > 0 && {
      tools: [{ type: "function", name, description, parameters }],
    }),
    ...(feature === "json schema" && { text: { format } }),
    ...(feature === "reasoning" && { reasoning: { effort: "medium" } }),
  };
}
