import { LlmRefusal } from "../chat/llm-error.ts";
import type { ChatRequest } from "../chat/request.ts";

/** Returns the stop sequences of a request. Throws LlmRefusal for more than the provider accepts. */
export function stopWithin({ stop, features }: ChatRequest, maxStop: number): readonly string[] {
  if (stop.length <= maxStop) return stop;
  const field = features.get("stop") ?? "stop";
  const message = `"${field}" has ${stop.length} sequences; the provider of this route accepts ${maxStop}`;
  throw new LlmRefusal({ kind: "unsupported", message, field });
}
