import { isJsonObject } from "../../chat/request-object.ts";
import type { Usage } from "../../chat/usage.ts";

/** `usage` of Converse: inputs are those outside the cache. Thoughts are not counted apart. */
export function readConverseUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const cacheRead = count(usage.cacheReadInputTokens);
  const cacheWrite = count(usage.cacheWriteInputTokens);
  return {
    input: count(usage.inputTokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: count(usage.outputTokens),
    reasoning: undefined,
  };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : 0;
}
