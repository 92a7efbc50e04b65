import type { LlmError } from "../chat/llm-error.ts";
import type { StreamEvent } from "../chat/stream-event.ts";

type ErrorEvent = Extract<StreamEvent, { kind: "error" }>;

/** The provider closed a stream without its end mark. */
export const cutOff: ErrorEvent = failure("the provider's stream ended before it was complete");

/** An event of a stream exceeds the maximum size. */
export const eventTooLong: ErrorEvent = failure("the provider sent an event that is too long");

/** An event of a stream is not a JSON object. */
export const notJson: ErrorEvent = failure("the provider sent an event that is not JSON");

/** An event of a stream has content in a form that is not known. */
export const unreadable: ErrorEvent = failure(
  "the provider sent content in a form that cannot be read",
);

/** A checksum of a stream does not match. */
export const corrupt: ErrorEvent = failure("the provider's stream was damaged on its way");

/** The provider reports that the model's output cannot be parsed. */
export const malformed: ErrorEvent = failure("the model's output is malformed");

function failure(message: string): ErrorEvent {
  const error: LlmError = { kind: "server", message };
  return { kind: "error", error };
}
