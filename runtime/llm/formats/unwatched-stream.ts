import type { StreamWatcher } from "../chat/formats.ts";

/** Watcher for APIs without streams. If a provider streams nevertheless, everything passes. */
export const UNWATCHED_STREAM: StreamWatcher = {
  facts: {},
  hasEnded: true,
  see: () => "content",
};
