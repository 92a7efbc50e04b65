import { isJsonObject } from "../../chat/request-object.ts";
import { tokenCount, type Usage } from "../../chat/usage.ts";

/** Reads `usage` of Converse: inputs exclude cached tokens. Reasoning is not counted separately. */
export function readConverseUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const cacheRead = tokenCount(usage.cacheReadInputTokens) ?? 0;
  const cacheWrite = tokenCount(usage.cacheWriteInputTokens) ?? 0;
  return {
    input: (tokenCount(usage.inputTokens) ?? 0) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: tokenCount(usage.outputTokens) ?? 0,
    reasoning: undefined,
  };
}
