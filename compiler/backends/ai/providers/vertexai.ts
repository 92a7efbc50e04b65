import { type Infer, object, shortText, text, validated } from "../../../schema/schema.ts";
import type { LlmBranch, LlmEndpoint, LlmProvider } from "./provider.ts";

const model = shortText(
  "Model for every request, by Google, Anthropic or another publisher; by default the one that the request names.",
);

const projectId = text("Google Cloud project.", {
  maxLength: 64,
  pattern: "^[a-z0-9.:-]+$",
  form: "a project id",
});

const region = text("Region; `us` and `eu` are multi-regions.", {
  maxLength: 64,
  pattern: "^[a-z0-9-]+$",
  form: "lower-case letters, digits and dashes",
});

const schema = object(
  { model, projectId, region: { ...region, default: "global" } },
  {
    required: ["projectId"],
    description:
      "Models on Vertex AI, with a Google Cloud access token (`backendAuth.gcp`, the default).",
  },
);

/** Settings of Vertex AI in manifests, without the model. */
export const vertexSettings = { projectId, region };

const manifestSchema = object({ model, ...vertexSettings }, { required: ["projectId", "region"] });

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
      case "GenerateContent":
      case "Converse":
      case "Responses":
        return chatEndpoint(options);
      case "Embeddings":
      case "Images":
        return {
          format: "vertexPredict",
          path: `${baseOf(options)}/publishers/google/models/{model}:predict`,
        };
      case "TokenCount":
        return countEndpoint(options);
      case "ContentTokenCount":
        return contentCountEndpoint(options);
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

/** Returns the chat endpoint. The API depends on the model, so a fixed model has a single endpoint. */
function chatEndpoint(options: VertexOptions): LlmEndpoint {
  const { model: fixed } = options;
  const base = baseOf(options);
  const branches: readonly LlmBranch[] = [
    {
      models: "^claude-",
      format: "messages",
      variant: "vertexMessages",
      path: `${base}/publishers/anthropic/models/{model}:rawPredict`,
      streamPath: `${base}/publishers/anthropic/models/{model}:streamRawPredict`,
    },
    {
      models: "^gemini-",
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
  return branches.find(({ models }) => new RegExp(models).test(nameOf(fixed))) ?? others;
}

/** Returns the endpoint that counts tokens, for Anthropic's models only; the model is in the body. */
function countEndpoint(options: VertexOptions): LlmEndpoint | undefined {
  const { model } = options;
  if (model === undefined || !nameOf(model).startsWith("claude-")) return undefined;
  const path = `${baseOf(options)}/publishers/anthropic/models/count-tokens:rawPredict`;
  return { format: "tokenCount", variant: "vertexTokenCount", path };
}

/** Returns the endpoint that counts tokens for Google's models. */
function contentCountEndpoint(options: VertexOptions): LlmEndpoint | undefined {
  const { model } = options;
  if (model !== undefined && !nameOf(model).startsWith("gemini-")) return undefined;
  return {
    format: "contentTokenCount",
    variant: "vertexContentTokenCount",
    path: `${baseOf(options)}/publishers/google/models/{model}:countTokens`,
  };
}

function baseOf({ projectId, region: place = "global" }: VertexOptions): string {
  return `/v1/projects/${projectId}/locations/${place}`;
}

/** Returns a model's name without its publisher. */
function nameOf(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1);
}
