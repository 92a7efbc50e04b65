import type { ChatResponse } from "./response.ts";
import type { StreamEvent } from "./stream-event.ts";

/**
 * Keeps only the first tool call, for clients that require one call at a time from providers that cannot enforce it. The
 * model repeats the other calls when it has the result of the first.
 */
export function withFirstCall(response: ChatResponse): ChatResponse {
  const first = response.blocks.find(({ kind }) => kind === "tool-call");
  const blocks = response.blocks.filter((block) => block.kind !== "tool-call" || block === first);
  return { ...response, blocks };
}

/** Whether an event of a stream belongs to another tool call than the first. */
export function isOfLaterCall(event: StreamEvent): boolean {
  return (event.kind === "tool-call" || event.kind === "tool-input") && event.index > 0;
}
