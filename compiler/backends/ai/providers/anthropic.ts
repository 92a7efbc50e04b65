import { type Infer, object } from "../../../schema/schema.ts";
import { ANTHROPIC_VERSION } from "./anthropic-version.ts";
import { type LlmEndpoint, type LlmProvider, modelField } from "./provider.ts";

const schema = object(
  { model: modelField },
  { description: "Anthropic, or another server with its API (`baseUrl`)." },
);

/** Anthropic: https://docs.anthropic.com/en/api/messages. */
export const anthropic: LlmProvider<"anthropic", Infer<typeof schema>> = {
  kind: "anthropic",
  fileKeys: [],
  system: "anthropic",
  schema,
  ofModel: ({ model }) => (model === undefined ? {} : { model }),
  url: () => "https://api.anthropic.com",
  basePath: () => "/v1",
  endpoint: (type): LlmEndpoint | undefined => {
    switch (type) {
      case "Completions":
      case "Messages":
      case "GenerateContent":
      case "Converse":
      case "Responses":
        return { format: "messages", path: "/v1/messages" };
      case "TokenCount":
        return { format: "tokenCount", path: "/v1/messages/count_tokens" };
      case "MessageFiles":
        return { format: "messageFiles", path: "/v1/files" };
      case "MessageBatches":
        return { format: "messageBatches", path: "/v1/messages/batches" };
      default:
        return undefined;
    }
  },
  credential: { kind: "header", header: "x-api-key" },
  headers: () => ANTHROPIC_VERSION,
  modelPrefixes: ["claude-"],
};
