import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { tokenCount, type Usage, withAudio } from "../../chat/usage.ts";
import { parseObject } from "../parse-object.ts";

/** Returns the tokens of a response from an event of OpenAI's Realtime API; `undefined` if the event has no usage. */
export function realtimeUsage(event: Buffer): Usage | undefined {
  if (!event.includes('"response.done"')) return undefined;
  const { type, response } = parseObject(event.toString("utf8")) ?? {};
  if (type !== "response.done" || !isJsonObject(response)) return undefined;
  const { usage } = response;
  if (!isJsonObject(usage)) return undefined;
  const inputs = detailsIn(usage.input_token_details);
  const counts = {
    input: tokenCount(usage.input_tokens) ?? 0,
    cacheRead: tokenCount(inputs.cached_tokens) ?? 0,
    cacheWrite: 0,
    output: tokenCount(usage.output_tokens) ?? 0,
    reasoning: undefined,
  };
  return withAudio(counts, {
    inputAudio: inputs.audio_tokens,
    cachedAudio: detailsIn(inputs.cached_tokens_details).audio_tokens,
    outputAudio: detailsIn(usage.output_token_details).audio_tokens,
  });
}

function detailsIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
