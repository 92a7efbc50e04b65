import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { tokenCount, type Usage, withAudio } from "../../chat/usage.ts";
import { tierWord, withTier } from "../service-tiers.ts";

/** Reads `usageMetadata` of generateContent: inputs include cached tokens, candidates exclude reasoning. */
export function readGenerateContentUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const input = tokenCount(usage.promptTokenCount);
  if (input === undefined) return undefined;
  const reasoning = tokenCount(usage.thoughtsTokenCount);
  const counts = {
    input: input + (tokenCount(usage.toolUsePromptTokenCount) ?? 0),
    cacheRead: tokenCount(usage.cachedContentTokenCount) ?? 0,
    cacheWrite: 0,
    output: (tokenCount(usage.candidatesTokenCount) ?? 0) + (reasoning ?? 0),
    reasoning,
  };
  const all = withAudio(counts, {
    inputAudio: audioIn(usage.promptTokensDetails),
    cachedAudio: audioIn(usage.cacheTokensDetails),
    outputAudio: audioIn(usage.candidatesTokensDetails),
  });
  return withTier(all, "generateContent", usage.serviceTier);
}

/** Returns the audio tokens in counts by modality. */
function audioIn(counts: unknown): unknown {
  if (!Array.isArray(counts)) return undefined;
  return counts.filter(isJsonObject).find(({ modality }) => modality === "AUDIO")?.tokenCount;
}

/** Writes `usageMetadata`. */
export function generateContentUsage(usage: Usage): JsonObject {
  const { input, cacheRead, output, reasoning, tier } = usage;
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - (reasoning ?? 0),
    totalTokenCount: input + output,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    ...(reasoning !== undefined && { thoughtsTokenCount: reasoning }),
    serviceTier: tierWord("generateContent", tier),
  };
}
