import { isJsonObject } from "../../chat/request-object.ts";
import type { Usage } from "../../chat/usage.ts";

/** `usageMetadata` of generateContent: inputs include those of the cache, candidates exclude what the model thought. */
export function readGenerateContentUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const input = count(usage.promptTokenCount);
  if (input === undefined) return undefined;
  const reasoning = count(usage.thoughtsTokenCount);
  return {
    input: input + (count(usage.toolUsePromptTokenCount) ?? 0),
    cacheRead: count(usage.cachedContentTokenCount) ?? 0,
    cacheWrite: 0,
    output: (count(usage.candidatesTokenCount) ?? 0) + (reasoning ?? 0),
    reasoning,
  };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
