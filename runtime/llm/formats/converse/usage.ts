import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { OriginalRequest } from "../../chat/formats.ts";
import { tokenCount, type Usage } from "../../chat/usage.ts";
import { tierWord, withTier } from "../service-tiers.ts";

/**
 * Reads `usage` and `serviceTier` of a response of Converse, or of the last event of a stream: inputs exclude cached tokens.
 * Reasoning is not counted separately.
 */
export function readConverseUsage({ usage, serviceTier }: JsonObject): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const cacheRead = tokenCount(usage.cacheReadInputTokens) ?? 0;
  const cacheWrite = tokenCount(usage.cacheWriteInputTokens) ?? 0;
  const counts = {
    input: (tokenCount(usage.inputTokens) ?? 0) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: tokenCount(usage.outputTokens) ?? 0,
    reasoning: undefined,
  };
  return withTier(counts, "converse", isJsonObject(serviceTier) ? serviceTier.type : undefined);
}

/** Writes the token counts and the latency of a response. */
export function converseMetadata(
  usage: Usage | undefined,
  { started }: Pick<OriginalRequest, "started">,
): JsonObject {
  const { input, output, cacheRead, cacheWrite } = usage ?? NO_USAGE;
  const usageOf = {
    inputTokens: Math.max(0, input - cacheRead - cacheWrite),
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  };
  const tier = tierWord("converse", usage?.tier);
  return {
    usage: usageOf,
    metrics: { latencyMs: Math.round(performance.now() - started) },
    ...(tier !== undefined && { serviceTier: { type: tier } }),
  };
}

const NO_USAGE: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: undefined };
