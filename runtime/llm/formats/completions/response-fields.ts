import type { ResponseFields } from "../../chat/response-fields.ts";

/** Members of a message, or of a piece of one. */
const message: ResponseFields = {
  role: "read",
  content: "read",
  refusal: "read",
  reasoning_content: "read",
  reasoning: "read",
  reasoning_signature: "read",
  reasoning_details: "read",
  tool_calls: {
    index: "read",
    id: "read",
    type: "read",
    function: "read",
    extra_content: { google: { thought_signature: "read" } },
  },
  function_call: "read",
  annotations: {
    type: "read",
    url_citation: citation(),
    ...citation(),
  },
};

/** Handling of each field of a response and of a chunk (OpenAI, CreateChatCompletionResponse). */
export const completionsResponseFields: ResponseFields = {
  id: "read",
  object: "read",
  created: "dropped",
  model: "read",
  system_fingerprint: "dropped",
  service_tier: "read",
  choices: { index: "read", finish_reason: "read", message, delta: message },
  usage: {
    prompt_tokens: "read",
    completion_tokens: "read",
    total_tokens: "read",
    prompt_tokens_details: {
      cached_tokens: "read",
      cache_write_tokens: "read",
      audio_tokens: "read",
    },
    completion_tokens_details: { reasoning_tokens: "read", audio_tokens: "read" },
  },
  // Padding against observers of the network.
  obfuscation: "dropped",
  error: "read",
};

/** Returns the members of the citation of a page. The gateway counts its positions itself. */
function citation(): ResponseFields {
  return { url: "read", title: "read", start_index: "dropped", end_index: "dropped" };
}
