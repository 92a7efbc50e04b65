import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { tokenCount, type Usage } from "../../chat/usage.ts";

/** Members that `readResponsesUsage` reads. */
export const responsesUsageReads = {
  input_tokens: true,
  input_tokens_details: { cached_tokens: true, cache_write_tokens: true },
  output_tokens: true,
  output_tokens_details: { reasoning_tokens: true },
} as const;

/** Reads `usage` of OpenAI's Responses API: inputs include cached tokens, outputs include reasoning. */
export function readResponsesUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const input = tokenCount(usage.input_tokens);
  if (input === undefined) return undefined;
  const inputs = isJsonObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const outputs = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return {
    input,
    cacheRead: tokenCount(inputs.cached_tokens) ?? 0,
    cacheWrite: tokenCount(inputs.cache_write_tokens) ?? 0,
    output: tokenCount(usage.output_tokens) ?? 0,
    reasoning: tokenCount(outputs.reasoning_tokens),
  };
}

/** Writes `usage`. */
export function responsesUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
    },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: usage.input + usage.output,
  };
}
