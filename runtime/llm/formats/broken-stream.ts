import type { LlmError } from "../chat/llm-error.ts";
import type { StreamEvent } from "../chat/stream-event.ts";

type ErrorEvent = Extract<StreamEvent, { kind: "error" }>;

/** The provider closed a stream without its end mark. */
export const cutOff: ErrorEvent = failure("the provider's stream ended before it was complete");

/** An event of a stream is longer than the gateway holds. */
export const eventTooLong: ErrorEvent = failure("the provider sent an event that is too long");

/** An event of a stream is no JSON object. */
export const notJson: ErrorEvent = failure("the provider sent an event that is no JSON");

function failure(message: string): ErrorEvent {
  const error: LlmError = { kind: "server", message };
  return { kind: "error", error };
}
