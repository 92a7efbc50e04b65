import { type Infer, object, shortText, text, validated } from "../../../schema/schema.ts";
import type { LlmEndpoint, LlmProvider } from "./provider.ts";

const model = shortText(
  "The model of every request: Gemini's, Anthropic's, or another publisher's; the one that the request names by default.",
);

const projectId = text("The project.", {
  maxLength: 64,
  pattern: "^[a-z0-9.:-]+$",
  form: "the id of a project",
});

const region = text("The region; `us` and `eu` are of several regions.", {
  maxLength: 64,
  pattern: "^[a-z0-9-]+$",
  form: "lower-case letters, digits and dashes",
});

const schema = object(
  { model, projectId, region: { ...region, default: "global" } },
  {
    required: ["projectId"],
    description:
      "Models on Vertex AI, with a token of Google Cloud: `backendAuth.gcp`, which is the default.",
  },
);

const manifestSchema = object({ model, projectId, region }, { required: ["projectId", "region"] });

type VertexOptions = Infer<typeof schema>;

/** Vertex AI: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest. */
export const vertexai: LlmProvider<"vertexai", VertexOptions> = {
  kind: "vertexai",
  fileKeys: ["vertex"],
  system: "gcp.vertex_ai",
  schema,
  ofModel: ({ model, vertexProject = "", vertexRegion }) => ({
    ...(model !== undefined && { model }),
    projectId: vertexProject,
    ...(vertexRegion !== undefined && { region: vertexRegion }),
  }),
  ownParams: ["vertexProject", "vertexRegion"],
  neededParams: ["vertexProject"],
  kubernetes: { schema: manifestSchema, lower: (value) => validated(manifestSchema, value) },
  url: ({ region: place = "global" }) => `https://${hostOf(place)}`,
  endpoint: (type, options): LlmEndpoint | undefined => {
    switch (type) {
      case "Completions":
      case "Messages":
      case "Responses":
        return chatEndpoint(options);
      case "Embeddings":
        return {
          format: "vertexPredict",
          path: `${baseOf(options)}/publishers/google/models/{model}:predict`,
        };
      case "TokenCount":
        return countEndpoint(options);
      default:
        return undefined;
    }
  },
  credential: { kind: "bearer" },
  isGoogleCloud: true,
  modelName: "vertexModel",
};

function hostOf(region: string): string {
  if (region === "global") return "aiplatform.googleapis.com";
  if (region === "us" || region === "eu") return `aiplatform.${region}.rep.googleapis.com`;
  return `${region}-aiplatform.googleapis.com`;
}

/** What is spoken follows from the model: one that is known is one endpoint. */
function chatEndpoint(options: VertexOptions): LlmEndpoint {
  const { model: fixed } = options;
  const base = baseOf(options);
  const branches: readonly (LlmEndpoint & { readonly prefix: string })[] = [
    {
      prefix: "claude-",
      format: "messages",
      variant: "vertexMessages",
      path: `${base}/publishers/anthropic/models/{model}:rawPredict`,
      streamPath: `${base}/publishers/anthropic/models/{model}:streamRawPredict`,
    },
    {
      prefix: "gemini-",
      format: "generateContent",
      path: `${base}/publishers/google/models/{model}:generateContent`,
      streamPath: `${base}/publishers/google/models/{model}:streamGenerateContent?alt=sse`,
    },
  ];
  const others: LlmEndpoint = {
    format: "completions",
    path: `${base}/endpoints/openapi/chat/completions`,
  };
  if (fixed === undefined) return { ...others, branches };
  return branches.find(({ prefix }) => nameOf(fixed).startsWith(prefix)) ?? others;
}

/** Tokens are counted for models of Anthropic; which one it is stands in the body. */
function countEndpoint(options: VertexOptions): LlmEndpoint | undefined {
  const { model } = options;
  if (model === undefined || !nameOf(model).startsWith("claude-")) return undefined;
  const path = `${baseOf(options)}/publishers/anthropic/models/count-tokens:rawPredict`;
  return { format: "tokenCount", variant: "vertexTokenCount", path };
}

function baseOf({ projectId, region: place = "global" }: VertexOptions): string {
  return `/v1/projects/${projectId}/locations/${place}`;
}

/** A model without its publisher. */
function nameOf(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1);
}
