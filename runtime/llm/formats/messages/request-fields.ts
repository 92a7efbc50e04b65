import { type FieldTable, refused } from "../../chat/request-fields.ts";

/** Handling of each field of the body (Anthropic, Create a Message). */
export const messagesFields: FieldTable = {
  model: "read",
  max_tokens: "read",
  messages: "read",
  system: "read",
  stream: "read",
  temperature: "read",
  top_p: "read",
  top_k: "read",
  stop_sequences: "read",
  tools: "read",
  tool_choice: "read",
  thinking: "read",
  output_config: "read",
  output_format: "read",
  metadata: "read",
  cache_control: "read",
  service_tier: "dropped",
  inference_geo: { refusedUnless: ["global"] },
  context_management: "dropped",
  diagnostics: "dropped",
  speed: "dropped",
  container: refused,
  mcp_servers: "read",
};
