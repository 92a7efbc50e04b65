import { hintFor } from "../../schema/hint-for.ts";

/** Returns a hint for each name that people write for a provider with OpenAI's API. */
export function othersLikeOpenAi(hint: string): Readonly<Record<string, string>> {
  return hintFor(hint, NAMES);
}

const NAMES = [
  ...["cerebras", "cohere", "deepseek", "fireworks", "groq", "litellm", "lmstudio", "mistral"],
  ...["ollama", "openrouter", "perplexity", "sglang", "together", "vllm", "xai"],
];
