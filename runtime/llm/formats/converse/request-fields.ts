import { type FieldTable, refused } from "../../chat/request-fields.ts";

/** Handling of each field of the body (Bedrock, Converse). The path names the model. */
export const converseFields: FieldTable = {
  model: "read",
  stream: "read",
  messages: "read",
  system: "read",
  inferenceConfig: "read",
  toolConfig: "read",
  outputConfig: "read",
  additionalModelRequestFields: "read",
  requestMetadata: "dropped",
  performanceConfig: "dropped",
  serviceTier: "dropped",
  // Another provider would answer without it.
  guardrailConfig: refused,
  promptVariables: { refusedUnless: [{}] },
  additionalModelResponseFieldPaths: { refusedUnless: [[]] },
};

/** Handling of each field of `inferenceConfig`. */
export const inferenceFields: FieldTable = {
  maxTokens: "read",
  temperature: "read",
  topP: "read",
  stopSequences: "read",
};

/** Handling of each field of `additionalModelRequestFields`: those of Claude and of Nova. */
export const ownModelFields: FieldTable = {
  thinking: "read",
  output_config: "read",
  top_k: "read",
  inferenceConfig: "read",
  tool_choice: "read",
  anthropic_beta: "dropped",
};
