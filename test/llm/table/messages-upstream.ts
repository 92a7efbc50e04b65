import type Anthropic from "@anthropic-ai/sdk";
import { expect } from "vitest";
import {
  callsOf,
  type Feature,
  outputSchema,
  pictureUrl,
  pixel,
  type Reading,
  script,
  tool,
} from "./features.ts";
import { callId, namedEvents, type TypedEvent, type Upstream } from "./upstream.ts";

const usage: Anthropic.Usage = {
  input_tokens: 9,
  output_tokens: 7,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: null,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: "standard",
  speed: null,
};

/** Anthropic's Messages API, and Vertex AI's of Claude. */
export const messagesUpstream: Upstream = {
  streamType: "text/event-stream",
  whole: (said) =>
    JSON.stringify({ ...message, content: blocks(said), stop_reason: stopReason(said) }),
  events: (said) =>
    namedEvents([
      { type: "message_start", message },
      { type: "ping" },
      ...blocks(said).flatMap(blockEvents),
      {
        type: "message_delta",
        delta: {
          stop_reason: stopReason(said),
          stop_sequence: null,
          container: null,
          stop_details: null,
        },
        usage: { ...usage, output_tokens: 7 },
      },
      { type: "message_stop" },
    ]),
  endings: 2,
  error: (status) => ({ body: JSON.stringify(errorOf(status)) }),
  errorEvent: `event: error\ndata: ${JSON.stringify(errorOf(529))}\n\n`,
  asked: (feature) => {
    const { name, description, schema: input_schema } = tool;
    const format = { type: "json_schema", schema: outputSchema };
    return {
      max_tokens: 4000,
      system: script.system,
      messages: [{ role: "user", content: userContent(feature) }],
      ...(callsOf(feature).length > 0 && { tools: [{ name, description, input_schema }] }),
      ...(feature === "json schema" && { output_config: { format } }),
      ...(feature === "reasoning" && { thinking: { type: "enabled", budget_tokens: 2048 } }),
    };
  },
  replayed: (feature) => {
    const said = { text: "", reasoning: feature === "reasoning" ? script.thought : "" };
    const results = callsOf(feature).map((_, index) =>
      expect.objectContaining({
        type: "tool_result",
        tool_use_id: callId(index),
        content: expect.toSatisfy((content) =>
          JSON.stringify(content).includes(script.results[index] ?? ""),
        ),
      }),
    );
    const history = blocks({ ...said, calls: callsOf(feature) }).map((block) =>
      expect.objectContaining(
        block.type === "tool_use"
          ? { id: block.id, name: block.name, input: block.input }
          : { ...block },
      ),
    );
    return {
      messages: [
        expect.anything(),
        { role: "assistant", content: history },
        { role: "user", content: results },
      ],
    };
  },
};

const message: Anthropic.Message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "model-1",
  content: [],
  container: null,
  diagnostics: null,
  stop_details: null,
  stop_reason: null,
  stop_sequence: null,
  usage,
};

function stopReason({ calls }: Reading): Anthropic.StopReason {
  return calls.length > 0 ? "tool_use" : "end_turn";
}

type Block =
  | Omit<Anthropic.TextBlock, "citations">
  | Anthropic.ThinkingBlock
  | Anthropic.ToolUseBlock;

function blocks({ text, reasoning, calls }: Reading): readonly Block[] {
  const { signature } = script;
  return [
    ...(reasoning === "" ? [] : [{ type: "thinking" as const, thinking: reasoning, signature }]),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ id, name, input }, index) => {
      const caller = { type: "direct" as const };
      return { type: "tool_use" as const, id: id ?? callId(index), name, input, caller };
    }),
  ];
}

function blockEvents(block: Block, index: number): readonly TypedEvent[] {
  const delta = (value: object) => ({ type: "content_block_delta", index, delta: value });
  const [content_block, deltas] = streamed(block);
  return [
    { type: "content_block_start", index, content_block },
    ...deltas.map(delta),
    { type: "content_block_stop", index },
  ];
}

/** Returns the start of a block and its deltas. */
function streamed(block: Block): readonly [object, readonly object[]] {
  switch (block.type) {
    case "text":
      return [
        { type: "text", text: "" },
        [...block.text].map((text) => ({ type: "text_delta", text })),
      ];
    case "thinking": {
      const { thinking, signature } = block;
      return [
        { type: "thinking", thinking: "", signature: "" },
        [
          { type: "thinking_delta", thinking },
          { type: "signature_delta", signature },
        ],
      ];
    }
    case "tool_use": {
      const partial_json = JSON.stringify(block.input);
      return [
        { ...block, input: {} },
        [
          { type: "input_json_delta", partial_json: "" },
          { type: "input_json_delta", partial_json },
        ],
      ];
    }
  }
}

/** A text, and a picture: whatever else a block has. */
function userContent(feature: Feature): unknown {
  switch (feature) {
    case "image":
      return withImage({ type: "base64", media_type: "image/png", data: pixel });
    case "image by address":
      return withImage({ type: "url", url: pictureUrl });
    default:
      return expect.toSatisfy((content) => JSON.stringify(content).includes(feature));
  }
}

function withImage(source: object): unknown {
  return [
    expect.objectContaining({ type: "text" }),
    expect.objectContaining({ type: "image", source }),
  ];
}

function errorOf(status: number): object {
  const types: Readonly<Record<number, string>> = {
    400: "invalid_request_error",
    429: "rate_limit_error",
    529: "overloaded_error",
  };
  const error = { type: types[status] ?? "api_error", message: script.fault };
  return { type: "error", error, request_id: "req_1" };
}
