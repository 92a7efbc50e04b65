import type { RouteType } from "../../../model/llm-policies.ts";
import { DEFAULT_MODERATION_MODEL } from "../../../model/prompt-guards.ts";
import { type Infer, object, shortText, validated } from "../../../schema/schema.ts";
import { fileWord, wordsOfForms } from "../../../schema/two-forms.ts";
import { ANTHROPIC_VERSION } from "./anthropic-version.ts";
import { mediaApi } from "./media-apis.ts";
import { apiField, CHAT_APIS, chatEndpoint } from "./openai-apis.ts";
import { type LlmEndpoint, type LlmProvider, modelField } from "./provider.ts";

const mode = wordsOfForms(
  "Whether flagged content is refused (`block`), or only gets scores, which are part of the response (`score`).",
  ["score", "block"],
);

/** Returns the schema of OpenAI's moderation in one form. */
function moderationSchema<Form extends keyof typeof mode>(form: Form) {
  const side = (description: string) =>
    object({ mode: mode[form] }, { required: ["mode"], description });
  return object(
    {
      model: shortText("The moderation model.", { default: DEFAULT_MODERATION_MODEL }),
      policy: object(
        { input: side("Moderation of prompts."), output: side("Moderation of completions.") },
        { description: "Treatment of flagged content; by default it gets scores." },
      ),
    },
    {
      description:
        "Moderation by OpenAI itself, within each chat: the field `moderation` of requests, which replaces the client's. `promptGuard` with `openAIModeration` asks before the model is called, for any provider.",
    },
  );
}

const common = { model: modelField, api: apiField(CHAT_APIS) };

const checks = [
  {
    message:
      '"moderation" is a field of chat completions and responses, but api: messages calls another API',
    holds: ({ api, moderation }: { readonly api?: string; readonly moderation?: object }) =>
      moderation === undefined || api !== "messages",
    cel: "!has(self.moderation) || !has(self.api) || self.api != 'messages'",
  },
];

const schema = object(
  { ...common, moderation: moderationSchema("file") },
  { description: "OpenAI, or another server with its API (`baseUrl`).", checks },
);

const manifestSchema = object({ ...common, moderation: moderationSchema("manifest") }, { checks });

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
  kubernetes: {
    schema: manifestSchema,
    lower: (value) => {
      const { moderation, ...options } = validated(manifestSchema, value);
      const { policy: given, ...rest } = moderation ?? {};
      const policy = given && {
        ...(given.input && { input: { mode: fileWord(given.input.mode) } }),
        ...(given.output && { output: { mode: fileWord(given.output.mode) } }),
      };
      const own = { ...rest, ...(policy && { policy }) };
      return { ...options, ...(moderation && { moderation: own }) };
    },
  },
  takesApi: true,
  chatFields: ({ moderation }) => {
    if (moderation === undefined) return {};
    const { model = DEFAULT_MODERATION_MODEL, policy } = moderation;
    return { moderation: { model, ...(policy && { policy }) } };
  },
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
