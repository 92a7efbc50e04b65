import type { PromptCaching } from "../chat/formats.ts";

/**
 * Returns the index of the last message that is cached, negative if there is none: the one before the last, which
 * differs in every request, or an earlier one.
 */
export function lastCached(length: number, { uncached = 0 }: PromptCaching): number {
  return length < 2 ? -1 : Math.max(0, length - 2 - uncached);
}
