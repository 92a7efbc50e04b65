import type { LlmError } from "../chat/llm-error.ts";
import type { StreamEvent } from "../chat/stream-event.ts";

type ErrorEvent = Extract<StreamEvent, { kind: "error" }>;

/** The provider closed a stream without its end mark. */
export const cutOff: ErrorEvent = failure("the provider's stream ended before it was complete");

/** An event of a stream is longer than the gateway holds. */
export const eventTooLong: ErrorEvent = failure("the provider sent an event that is too long");

/** An event of a stream is no JSON object. */
export const notJson: ErrorEvent = failure("the provider sent an event that is no JSON");

/** The bytes of a stream are not as they were sent. */
export const corrupt: ErrorEvent = failure("the provider's stream was damaged on its way");

/** The provider says itself that what the model wrote cannot be read. */
export const malformed: ErrorEvent = failure("the model's output is malformed");

function failure(message: string): ErrorEvent {
  const error: LlmError = { kind: "server", message };
  return { kind: "error", error };
}
