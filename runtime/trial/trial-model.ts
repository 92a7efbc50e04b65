/** Returns a model's response in the format of a path; `undefined` if it is not a path of a model API. */
export function modelResponse(path: string): string | undefined {
  const [, found] = RESPONSES.find(([pattern]) => pattern.test(path)) ?? [];
  return found === undefined ? undefined : JSON.stringify(found);
}

const COMPLETION = {
  id: "trial",
  object: "chat.completion",
  created: 0,
  model: "trial",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

const MESSAGE = {
  id: "trial",
  type: "message",
  role: "assistant",
  model: "trial",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

const RESPONSE = {
  id: "trial",
  object: "response",
  created_at: 0,
  status: "completed",
  model: "trial",
  output: [
    {
      id: "trial",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "ok", annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
};

const GENERATED = {
  candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
};

const CONVERSED = {
  output: { message: { role: "assistant", content: [{ text: "ok" }] } },
  stopReason: "end_turn",
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  metrics: { latencyMs: 1 },
};

const EMBEDDINGS = {
  object: "list",
  data: [{ object: "embedding", index: 0, embedding: [0] }],
  model: "trial",
  usage: { prompt_tokens: 1, total_tokens: 1 },
};

/** By the end of the path, in each provider's API. */
const RESPONSES: readonly (readonly [RegExp, object])[] = [
  [/\/chat\/completions(\?|$)/, COMPLETION],
  [/(\/messages|:rawPredict)(\?|$)/, MESSAGE],
  [/\/messages\/count_tokens(\?|$)/, { input_tokens: 1 }],
  [/\/responses(\?|$)/, RESPONSE],
  [/:generateContent(\?|$)/, GENERATED],
  [/\/converse(\?|$)/, CONVERSED],
  [/\/embeddings(\?|$)/, EMBEDDINGS],
];
