import { type Infer, object } from "../../../schema/schema.ts";
import { type LlmEndpoint, type LlmProvider, modelField } from "./provider.ts";

const schema = object(
  { model: modelField },
  { description: "OpenAI, or another server with its API (`baseUrl`)." },
);

/** OpenAI: https://platform.openai.com/docs/api-reference. */
export const openai: LlmProvider<"openai", Infer<typeof schema>> = {
  kind: "openai",
  fileKeys: ["openAI"],
  system: "openai",
  schema,
  ofModel: ({ model }) => (model === undefined ? {} : { model }),
  url: () => "https://api.openai.com",
  basePath: () => "/v1",
  endpoint: (type): LlmEndpoint | undefined => {
    switch (type) {
      case "Completions":
      case "Messages":
        return { format: "completions", path: "/v1/chat/completions" };
      case "Responses":
        return { format: "responses", path: "/v1/responses" };
      case "Embeddings":
        return { format: "embeddings", path: "/v1/embeddings" };
      case "Realtime":
        return { format: "realtime", path: "/v1/realtime" };
      default:
        return undefined;
    }
  },
  credential: { kind: "bearer" },
  modelPrefixes: [
    ...["gpt-", "chatgpt-", "o1", "o3", "o4", "text-embedding-", "codex-", "ft:"],
    ...["computer-use-", "davinci-", "babbage-"],
  ],
};
