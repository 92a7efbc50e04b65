import { type FieldTable, refused } from "../../chat/request-fields.ts";

/** Handling of each field of the body (Gemini API, GenerateContentRequest). The path names the model. */
export const generateContentFields: FieldTable = {
  model: "read",
  stream: "read",
  contents: "read",
  systemInstruction: "read",
  tools: "read",
  toolConfig: "read",
  generationConfig: "read",
  // Other providers have filters of their own.
  safetySettings: "dropped",
  serviceTier: "dropped",
  store: "dropped",
  labels: "dropped",
  cachedContent: refused,
};

/** Handling of each field of `generationConfig`. */
export const generationFields: FieldTable = {
  candidateCount: "read",
  stopSequences: "read",
  maxOutputTokens: "read",
  temperature: "read",
  topP: "read",
  topK: "read",
  seed: "read",
  responseMimeType: "read",
  responseSchema: "read",
  responseJsonSchema: "read",
  _responseJsonSchema: "read",
  presencePenalty: "read",
  frequencyPenalty: "read",
  thinkingConfig: "read",
  mediaResolution: "dropped",
  responseLogprobs: { refusedUnless: [false] },
  responseModalities: { refusedUnless: [["TEXT"], []] },
  logprobs: refused,
  speechConfig: refused,
  imageConfig: refused,
  responseFormat: refused,
};
