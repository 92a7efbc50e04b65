import type { ResponseFields } from "../../chat/response-fields.ts";

/** Members of a citation. Other formats cite pages only. */
const citation: ResponseFields = {
  title: "read",
  location: { web: { url: "read", domain: "dropped" } },
  sourceContent: "dropped",
};

const content: ResponseFields = {
  text: "read",
  toolUse: "read",
  reasoningContent: "read",
  citationsContent: { content: "read", citations: citation },
  cachePoint: "dropped",
};

/** Members that are at the end of a response, and of a stream. */
const end: ResponseFields = {
  usage: {
    inputTokens: "read",
    outputTokens: "read",
    totalTokens: "read",
    cacheReadInputTokens: "read",
    cacheWriteInputTokens: "read",
    cacheDetails: "dropped",
  },
  metrics: "dropped",
  performanceConfig: "dropped",
  serviceTier: { type: "read" },
};

/** Handling of each field of a response (Bedrock, ConverseResponse). */
export const converseResponseFields: ResponseFields = {
  output: { message: { role: "read", content } },
  stopReason: "read",
  ...end,
};

/** Handling of each field of an event (Bedrock, ConverseStreamOutput), whatever its type. */
export const converseEventFields: ResponseFields = {
  role: "read",
  contentBlockIndex: "read",
  start: { toolUse: "read" },
  delta: { text: "read", toolUse: "read", reasoningContent: "read", citation },
  stopReason: "read",
  ...end,
  // Padding against observers of the network.
  p: "dropped",
};
