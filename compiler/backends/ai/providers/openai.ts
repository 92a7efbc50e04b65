import type { RouteType } from "../../../model/llm-policies.ts";
import { type Infer, object } from "../../../schema/schema.ts";
import { ANTHROPIC_VERSION } from "./anthropic-version.ts";
import { mediaApi } from "./media-apis.ts";
import { apiField, CHAT_APIS, chatEndpoint } from "./openai-apis.ts";
import { type LlmEndpoint, type LlmProvider, modelField } from "./provider.ts";

const schema = object(
  { model: modelField, api: apiField(CHAT_APIS) },
  { description: "OpenAI, or another server with its API (`baseUrl`)." },
);

/** OpenAI: https://platform.openai.com/docs/api-reference. */
export const openai: LlmProvider<"openai", Infer<typeof schema>> = {
  kind: "openai",
  fileKeys: ["openAI"],
  system: "openai",
  schema,
  ofModel: ({ model, api }) => ({
    ...(model !== undefined && { model }),
    ...(api !== undefined && { api }),
  }),
  takesApi: true,
  url: () => "https://api.openai.com",
  basePath: () => "/v1",
  endpoint: (type, { model, api }, isOwnServer): LlmEndpoint | undefined => {
    switch (type) {
      case "Completions":
      case "Messages":
      case "GenerateContent":
      case "Converse":
      case "Responses": {
        const apis = CHAT_APIS.filter((each) => each !== "messages");
        const pathOf = (each: keyof typeof PATHS) => ({ path: PATHS[each] });
        return chatEndpoint(type, { api, apis, isOwnServer, model, pathOf });
      }
      case "Embeddings":
        return { format: "embeddings", path: "/v1/embeddings" };
      case "Realtime":
        return { format: "realtime", path: "/v1/realtime" };
      default: {
        const api = mediaApi(type);
        const isAbsent = ABSENT.has(type) || (type === "Rerank" && isOwnServer);
        return isAbsent || api === undefined
          ? undefined
          : { format: api.format, path: `/v1/${api.path}` };
      }
    }
  },
  credential: { kind: "bearer" },
  headers: ({ api }) => (api === "messages" ? ANTHROPIC_VERSION : []),
  modelPrefixes: [
    ...["gpt-", "chatgpt-", "o1", "o3", "o4", "text-embedding-", "codex-", "ft:"],
    ...["computer-use-", "davinci-", "babbage-", "tts-", "whisper-", "dall-e-"],
    ...["omni-moderation-", "text-moderation-", "sora-"],
  ],
};

/** Types of traffic of Anthropic only. */
const ABSENT: ReadonlySet<RouteType> = new Set(["MessageFiles", "MessageBatches"]);

const PATHS = {
  completions: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
} as const;
