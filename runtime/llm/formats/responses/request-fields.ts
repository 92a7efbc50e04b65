import { type FieldTable, refused } from "../../chat/request-fields.ts";

/**
 * Handling of each field of the body (OpenAI, CreateResponse). OpenAI stores state between requests; no other provider can
 * continue a conversation that is not in the request.
 */
export const responsesFields: FieldTable = {
  model: "read",
  input: "read",
  instructions: "read",
  stream: "read",
  max_output_tokens: "read",
  temperature: "read",
  top_p: "read",
  tools: "read",
  tool_choice: "read",
  parallel_tool_calls: "read",
  text: "read",
  reasoning: "read",
  include: "read",
  user: "read",
  safety_identifier: "read",
  // The response reports that nothing is stored.
  store: "dropped",
  stream_options: "dropped",
  metadata: "dropped",
  client_metadata: "dropped",
  service_tier: "dropped",
  prompt_cache_key: "dropped",
  prompt_cache_options: "dropped",
  prompt_cache_retention: "dropped",
  context_management: "dropped",
  max_tool_calls: "read",
  background: { refusedUnless: [false] },
  previous_response_id: refused,
  conversation: refused,
  prompt: refused,
  moderation: refused,
  truncation: { refusedUnless: ["disabled"] },
  top_logprobs: { refusedUnless: [0] },
};
