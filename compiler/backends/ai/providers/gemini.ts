import { type Infer, object } from "../../../schema/schema.ts";
import { type LlmEndpoint, type LlmProvider, modelField } from "./provider.ts";

const schema = object(
  { model: modelField },
  { description: "Gemini, with a key of the Gemini API (not of Vertex AI)." },
);

/** Prefix of the paths of its OpenAI-compatible APIs. */
const OPENAI_PATHS = "/v1beta/openai/";

const OWN_API = {
  format: "generateContent",
  path: "/v1beta/models/{model}:generateContent",
  streamPath: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
} as const satisfies LlmEndpoint;

/** The Gemini API: https://ai.google.dev/api/generate-content. */
export const gemini: LlmProvider<"gemini", Infer<typeof schema>> = {
  kind: "gemini",
  fileKeys: [],
  system: "gcp.gemini",
  schema,
  ofModel: ({ model }) => (model === undefined ? {} : { model }),
  url: () => "https://generativelanguage.googleapis.com",
  endpoint: (type): LlmEndpoint | undefined => {
    switch (type) {
      // Its OpenAI-compatible API takes requests unchanged, including Google's extensions (`extra_body`).
      case "Completions":
        return {
          format: "completions",
          path: `${OPENAI_PATHS}chat/completions`,
          // It has no searches of the web.
          branches: [{ ...OWN_API, models: "", when: "usesHostedTools" }],
        };
      // Only its own API has fields for thought signatures, thought tokens and every kind of input.
      case "Messages":
      case "Responses":
      case "GenerateContent":
      case "Converse":
        return OWN_API;
      case "ContentTokenCount":
        return { format: "contentTokenCount", path: "/v1beta/models/{model}:countTokens" };
      case "Embeddings":
        return { format: "embeddings", path: `${OPENAI_PATHS}embeddings` };
      case "Images":
        return { format: "images", path: `${OPENAI_PATHS}images/generations` };
      default:
        return undefined;
    }
  },
  credential: {
    kind: "by-path",
    header: { prefix: OPENAI_PATHS, header: "authorization", otherwise: "x-goog-api-key" },
  },
  modelPrefixes: ["gemini-", "gemma-", "learnlm-", "text-embedding-"],
};
