import type { ResponseFields } from "../../chat/response-fields.ts";

/** Members of a citation. Other formats cite pages only, and Anthropic's proofs of a citation are of no use elsewhere. */
const citations: ResponseFields = {
  type: "read",
  url: "read",
  title: "read",
  cited_text: "dropped",
  encrypted_index: "dropped",
};

const content: ResponseFields = {
  type: "read",
  text: "read",
  citations,
  id: "read",
  name: "read",
  input: "read",
  caller: "dropped",
  thinking: "read",
  signature: "read",
  data: "read",
  tool_use_id: "read",
  server_name: "read",
  is_error: "read",
  content: "read",
};

const stopDetails: ResponseFields = { type: "read", explanation: "read" };

const usage: ResponseFields = {
  input_tokens: "read",
  output_tokens: "read",
  cache_creation_input_tokens: "read",
  cache_read_input_tokens: "read",
  output_tokens_details: { thinking_tokens: "read" },
  service_tier: "read",
  // Parts of numbers that are read, and counts of searches that are part of the content.
  cache_creation: "dropped",
  server_tool_use: "dropped",
  inference_geo: "dropped",
};

/** Handling of each field of a response (Anthropic, Message). */
export const messagesResponseFields: ResponseFields = {
  id: "read",
  type: "read",
  role: "read",
  model: "read",
  content,
  stop_reason: "read",
  stop_sequence: "read",
  stop_details: stopDetails,
  usage,
};

/** Handling of each field of an event (Anthropic, MessageStreamEvent). */
export const messagesEventFields: ResponseFields = {
  type: "read",
  index: "read",
  message: messagesResponseFields,
  content_block: content,
  delta: {
    type: "read",
    text: "read",
    thinking: "read",
    signature: "read",
    partial_json: "read",
    citation: citations,
    stop_reason: "read",
    stop_sequence: "read",
    stop_details: stopDetails,
  },
  usage,
  error: "read",
};
