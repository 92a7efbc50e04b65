import { MEDIA_WORDS } from "./media-apis.ts";

/** Formats of APIs that a server may have, by the words of a configuration. */
export const SERVER_FORMATS = [
  "completions",
  "messages",
  "responses",
  "embeddings",
  "tokenCount",
  "realtime",
  ...MEDIA_WORDS,
] as const;

/** Format of an API of a server. */
export type ServerFormat = (typeof SERVER_FORMATS)[number];

/** A known server with APIs of OpenAI or Anthropic. */
export interface Preset {
  /** Name in its documentation. */
  readonly title: string;
  /** Base URL of its APIs. */
  readonly url: string;
  /** Variable for its keys, as its documentation names it; absent for servers without keys. */
  readonly key?: string;
  readonly formats: readonly ServerFormat[];
  /** Headers that its APIs require: a flat list, names in lower case; absent if they require none. */
  readonly headers?: readonly string[];
  /** Paths of formats that are not below the base URL. */
  readonly apart?: { readonly [Format in ServerFormat]?: string };
}

/** Anthropic's API next to the API of OpenAI. */
const MESSAGES_APART = { messages: "/anthropic/v1/messages" } as const;

/**
 * Known servers by the name that configurations use, which is also `gen_ai.provider.name`. Addresses that agentgateway
 * does not have are those of LiteLLM 1.110 (dashscope, moonshot, nvidia, perplexity, sambanova), and of the
 * documentation of the servers themselves (litellm, llamacpp, lmstudio, sglang, vllm).
 */
export const presets = {
  baseten: {
    title: "Baseten",
    url: "https://inference.baseten.co/v1",
    key: "BASETEN_API_KEY",
    formats: ["completions", "messages"],
  },
  cerebras: {
    title: "Cerebras",
    url: "https://api.cerebras.ai/v1",
    key: "CEREBRAS_API_KEY",
    formats: ["completions"],
  },
  cohere: {
    title: "Cohere",
    url: "https://api.cohere.ai/compatibility/v1",
    key: "COHERE_API_KEY",
    formats: ["completions", "embeddings", "rerank"],
    apart: { rerank: "/v2/rerank" },
  },
  copilot: {
    title: "GitHub Copilot",
    url: "https://api.githubcopilot.com",
    key: "GH_COPILOT_TOKEN",
    formats: ["completions", "messages", "responses", "embeddings"],
    apart: { messages: "/v1/messages" },
    headers: [
      ...["editor-version", "gwc/0.1", "x-github-api-version", "2025-10-01"],
      ...["x-initiator", "agent", "openai-intent", "conversation-agent"],
    ],
  },
  dashscope: {
    title: "Alibaba Cloud Model Studio",
    url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    key: "DASHSCOPE_API_KEY",
    formats: ["completions", "embeddings"],
  },
  deepinfra: {
    title: "DeepInfra",
    url: "https://api.deepinfra.com/v1/openai",
    key: "DEEPINFRA_API_KEY",
    formats: [
      "completions",
      "messages",
      "embeddings",
      "speech",
      "transcriptions",
      "translations",
      "images",
    ],
    apart: MESSAGES_APART,
  },
  deepseek: {
    title: "DeepSeek",
    url: "https://api.deepseek.com/v1",
    key: "DEEPSEEK_API_KEY",
    formats: ["completions", "messages"],
    apart: MESSAGES_APART,
  },
  fireworks: {
    title: "Fireworks AI",
    url: "https://api.fireworks.ai/inference/v1",
    key: "FIREWORKS_API_KEY",
    formats: ["completions", "messages", "responses", "embeddings"],
  },
  groq: {
    title: "Groq",
    url: "https://api.groq.com/openai/v1",
    key: "GROQ_API_KEY",
    formats: [
      "completions",
      "responses",
      "speech",
      "transcriptions",
      "translations",
      "files",
      "batches",
    ],
  },
  huggingface: {
    title: "Hugging Face Inference Providers",
    url: "https://router.huggingface.co/v1",
    key: "HF_TOKEN",
    formats: ["completions", "responses"],
  },
  litellm: {
    title: "A LiteLLM proxy",
    url: "http://localhost:4000/v1",
    formats: [
      "completions",
      "messages",
      "responses",
      "embeddings",
      "speech",
      "transcriptions",
      "translations",
      "images",
      "imageEdits",
      "imageVariations",
      "rerank",
      "moderations",
      "files",
      "batches",
    ],
  },
  llamacpp: {
    title: "llama.cpp's server",
    url: "http://localhost:8080/v1",
    formats: ["completions", "embeddings"],
  },
  lmstudio: {
    title: "LM Studio",
    url: "http://localhost:1234/v1",
    formats: ["completions", "responses", "embeddings"],
  },
  mistral: {
    title: "Mistral AI",
    url: "https://api.mistral.ai/v1",
    key: "MISTRAL_API_KEY",
    formats: ["completions", "embeddings", "transcriptions", "moderations"],
  },
  moonshot: {
    title: "Moonshot AI",
    url: "https://api.moonshot.ai/v1",
    key: "MOONSHOT_API_KEY",
    formats: ["completions", "messages"],
    apart: MESSAGES_APART,
  },
  nvidia: {
    title: "NVIDIA NIM",
    url: "https://integrate.api.nvidia.com/v1",
    key: "NVIDIA_API_KEY",
    formats: ["completions", "embeddings"],
  },
  ollama: {
    title: "Ollama",
    url: "http://localhost:11434/v1",
    formats: ["completions", "responses", "embeddings"],
  },
  openrouter: {
    title: "OpenRouter",
    url: "https://openrouter.ai/api/v1",
    key: "OPENROUTER_API_KEY",
    formats: ["completions", "messages", "responses", "embeddings"],
  },
  perplexity: {
    title: "Perplexity",
    url: "https://api.perplexity.ai",
    key: "PERPLEXITY_API_KEY",
    formats: ["completions"],
  },
  sambanova: {
    title: "SambaNova",
    url: "https://api.sambanova.ai/v1",
    key: "SAMBANOVA_API_KEY",
    formats: ["completions", "embeddings"],
  },
  sglang: {
    title: "SGLang",
    url: "http://localhost:30000/v1",
    formats: ["completions", "embeddings", "rerank"],
  },
  togetherai: {
    title: "Together AI",
    url: "https://api.together.xyz/v1",
    key: "TOGETHER_API_KEY",
    formats: [
      "completions",
      "embeddings",
      "speech",
      "transcriptions",
      "translations",
      "images",
      "rerank",
    ],
  },
  vllm: {
    title: "vLLM",
    url: "http://localhost:8000/v1",
    formats: ["completions", "responses", "embeddings", "transcriptions", "translations", "rerank"],
  },
  xai: {
    title: "xAI",
    url: "https://api.x.ai/v1",
    key: "XAI_API_KEY",
    formats: ["completions", "responses", "realtime", "images"],
  },
} as const satisfies Readonly<Record<string, Preset>>;

/** Name of a known server. */
export type PresetName = keyof typeof presets;

/** Whether a word is the name of a known server. */
export function isPreset(word: string): word is PresetName {
  return Object.hasOwn(presets, word);
}
