import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { tokenCount, type Usage, withAudio } from "../../chat/usage.ts";

/** Members that `readCompletionsUsage` reads. */
export const completionsUsageReads = {
  prompt_tokens: true,
  completion_tokens: true,
  prompt_tokens_details: { cached_tokens: true, cache_write_tokens: true, audio_tokens: true },
  completion_tokens_details: { reasoning_tokens: true, audio_tokens: true },
} as const;

/** Reads `usage` of OpenAI's chat completions: inputs include cached tokens, outputs include reasoning. */
export function readCompletionsUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const input = tokenCount(usage.prompt_tokens);
  if (input === undefined) return undefined;
  const prompt = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isJsonObject(usage.completion_tokens_details)
    ? usage.completion_tokens_details
    : {};
  const counts = {
    input,
    cacheRead: tokenCount(prompt.cached_tokens) ?? 0,
    cacheWrite: tokenCount(prompt.cache_write_tokens) ?? 0,
    output: tokenCount(usage.completion_tokens) ?? 0,
    reasoning: tokenCount(completion.reasoning_tokens),
  };
  return withAudio(counts, {
    inputAudio: prompt.audio_tokens,
    cachedAudio: undefined,
    outputAudio: completion.audio_tokens,
  });
}

/** Writes `usage`. */
export function completionsUsage(usage: Usage): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
      ...(usage.inputAudio !== undefined && { audio_tokens: usage.inputAudio }),
    },
    ...((usage.reasoning ?? usage.outputAudio) !== undefined && {
      completion_tokens_details: {
        ...(usage.reasoning !== undefined && { reasoning_tokens: usage.reasoning }),
        ...(usage.outputAudio !== undefined && { audio_tokens: usage.outputAudio }),
      },
    }),
  };
}
