import type { ChatResponse } from "./response.ts";
import type { StreamEvent } from "./stream-event.ts";

/**
 * For clients that want one call of a tool at a time, of providers that cannot be told so: the model asks for the others
 * again when it has the result of the first.
 */
export function withFirstCall(response: ChatResponse): ChatResponse {
  const first = response.blocks.find(({ kind }) => kind === "tool-call");
  const blocks = response.blocks.filter((block) => block.kind !== "tool-call" || block === first);
  return { ...response, blocks };
}

/** Whether an event of a stream is of another call than the first. */
export function isOfLaterCall(event: StreamEvent): boolean {
  return (event.kind === "tool-call" || event.kind === "tool-input") && event.index > 0;
}
