import type { ResponseFields } from "../../chat/response-fields.ts";

/** Settings of the request, which the provider repeats. */
const repeated: ResponseFields = Object.fromEntries(
  [
    ...["background", "frequency_penalty", "instructions", "max_output_tokens", "max_tool_calls"],
    ...["metadata", "parallel_tool_calls", "presence_penalty", "prompt_cache_key", "reasoning"],
    ...[
      "prompt_cache_retention",
      "safety_identifier",
      "store",
      "temperature",
      "text",
      "tool_choice",
    ],
    ...["tools", "top_logprobs", "top_p", "truncation", "user"],
  ].map((name) => [name, "dropped"]),
);

/** Handling of each field of an item of the output (OpenAI, OutputItem). */
export const outputItemFields: ResponseFields = {
  type: "read",
  id: "dropped",
  status: "read",
  role: "read",
  phase: "dropped",
  created_by: "dropped",
  content: {
    type: "read",
    text: "read",
    refusal: "read",
    annotations: {
      type: "read",
      url: "read",
      title: "read",
      // The gateway counts positions itself.
      start_index: "dropped",
      end_index: "dropped",
    },
  },
  summary: "read",
  encrypted_content: "read",
  call_id: "read",
  name: "read",
  arguments: "read",
  action: { type: "read", query: "read", queries: "dropped", sources: "read", url: "dropped" },
  code: "read",
  outputs: "read",
  container_id: "dropped",
  server_label: "read",
  output: "read",
  error: "read",
};

/** Handling of each field of a response (OpenAI, Response). */
export const responsesResponseFields: ResponseFields = {
  ...repeated,
  id: "read",
  object: "read",
  created_at: "dropped",
  completed_at: "dropped",
  status: "read",
  error: "read",
  incomplete_details: { reason: "read" },
  model: "read",
  output: outputItemFields,
  output_text: "dropped",
  service_tier: "read",
  billing: "dropped",
  usage: {
    input_tokens: "read",
    input_tokens_details: { cached_tokens: "read", cache_write_tokens: "read" },
    output_tokens: "read",
    output_tokens_details: { reasoning_tokens: "read" },
    total_tokens: "read",
  },
};
