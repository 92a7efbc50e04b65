import type { ResponseFields } from "../../chat/response-fields.ts";

const parts: ResponseFields = {
  text: "read",
  thought: "read",
  thoughtSignature: "read",
  functionCall: { id: "read", name: "read", args: "read" },
  executableCode: "read",
  codeExecutionResult: "read",
};

/** Handling of each field of a response and of an event (Google, GenerateContentResponse). */
export const generateContentResponseFields: ResponseFields = {
  candidates: {
    index: "read",
    content: { role: "read", parts },
    finishReason: "read",
    finishMessage: "read",
    groundingMetadata: {
      webSearchQueries: "read",
      groundingChunks: { web: { uri: "read", title: "read", domain: "dropped" } },
      // Positions of citations, which the gateway counts itself, and what Google's own pages show.
      groundingSupports: "dropped",
      retrievalMetadata: "dropped",
      searchEntryPoint: "dropped",
    },
    urlContextMetadata: "read",
    safetyRatings: "dropped",
    tokenCount: "dropped",
    avgLogprobs: "dropped",
  },
  promptFeedback: { blockReason: "read", blockReasonMessage: "read", safetyRatings: "dropped" },
  usageMetadata: {
    promptTokenCount: "read",
    cachedContentTokenCount: "read",
    candidatesTokenCount: "read",
    toolUsePromptTokenCount: "read",
    thoughtsTokenCount: "read",
    totalTokenCount: "read",
    serviceTier: "read",
    // Tokens by modality, of which those of audio are read.
    promptTokensDetails: "read",
    cacheTokensDetails: "read",
    candidatesTokensDetails: "read",
    toolUsePromptTokensDetails: "dropped",
    trafficType: "dropped",
  },
  modelVersion: "read",
  responseId: "read",
  createTime: "dropped",
  error: "read",
};
