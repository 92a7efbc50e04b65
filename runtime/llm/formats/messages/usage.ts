import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { tokenCount, type Usage } from "../../chat/usage.ts";
import { tierWord, withTier } from "../service-tiers.ts";

/** Members that `readMessagesUsage` reads. */
export const messagesUsageReads = {
  input_tokens: true,
  cache_read_input_tokens: true,
  cache_creation_input_tokens: true,
  output_tokens: true,
  output_tokens_details: { thinking_tokens: true },
  service_tier: true,
} as const;

/**
 * Reads `usage` of the Messages API: inputs exclude cached tokens. In a stream, counts of later events replace earlier ones;
 * absent counts keep their values.
 */
export function readMessagesUsage(usage: unknown, before?: Usage): Usage | undefined {
  if (!isJsonObject(usage)) return before;
  const cacheRead = tokenCount(usage.cache_read_input_tokens) ?? before?.cacheRead ?? 0;
  const cacheWrite = tokenCount(usage.cache_creation_input_tokens) ?? before?.cacheWrite ?? 0;
  const fresh =
    tokenCount(usage.input_tokens) ??
    (before === undefined ? 0 : before.input - before.cacheRead - before.cacheWrite);
  const details = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const counts = {
    input: fresh + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: tokenCount(usage.output_tokens) ?? before?.output ?? 0,
    reasoning: tokenCount(details.thinking_tokens) ?? before?.reasoning,
    ...(before?.tier !== undefined && { tier: before.tier }),
  };
  return withTier(counts, "messages", usage.service_tier);
}

/** Writes usage at the end of a stream. Clients may read every field, so unknown ones are null. */
export function messagesDeltaUsage(usage: Usage): JsonObject {
  const { input, cacheRead, cacheWrite, output, reasoning } = usage;
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    output_tokens_details: reasoning === undefined ? null : { thinking_tokens: reasoning },
    server_tool_use: null,
    // The start of a stream cannot report it yet.
    service_tier: tierWord("messages", usage.tier),
  };
}

/** Writes usage of a whole message. */
export function messagesUsage(usage: Usage): JsonObject {
  const ofAnthropic = { cache_creation: null, inference_geo: null };
  const counts = messagesDeltaUsage(usage);
  return { ...counts, ...ofAnthropic, service_tier: counts.service_tier ?? null };
}
