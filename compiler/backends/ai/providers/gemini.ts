import { type Infer, object, shortText } from "../../../schema/schema.ts";
import type { LlmEndpoint, LlmProvider } from "./provider.ts";

const schema = object(
  { model: shortText("The model of every request; the one that the request names by default.") },
  { description: "Gemini, by a key of the Gemini API (not of Vertex AI)." },
);

/** What the paths of its server of OpenAI's APIs begin with. */
const OPENAI_PATHS = "/v1beta/openai/";

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
      // Its own server of this format takes the bytes as they are, with what Google alone has (`extra_body`).
      case "Completions":
        return { format: "completions", path: `${OPENAI_PATHS}chat/completions` };
      // What is translated goes where signatures of thoughts, their tokens and every kind of input have a place.
      case "Messages":
      case "Responses":
        return {
          format: "generateContent",
          path: "/v1beta/models/{model}:generateContent",
          streamPath: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
        };
      case "Embeddings":
        return { format: "embeddings", path: `${OPENAI_PATHS}embeddings` };
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
