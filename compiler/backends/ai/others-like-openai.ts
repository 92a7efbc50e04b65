/** A hint for each name that people write for a provider, of servers that speak as OpenAI does. */
export function othersLikeOpenAi(hint: string): Readonly<Record<string, string>> {
  return Object.fromEntries(NAMES.map((name) => [name, hint]));
}

const NAMES = [
  ...["cerebras", "cohere", "deepseek", "fireworks", "groq", "litellm", "lmstudio", "mistral"],
  ...["ollama", "openrouter", "perplexity", "sglang", "together", "vllm", "xai"],
];
