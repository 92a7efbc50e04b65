import type { StreamWatcher } from "../chat/formats.ts";

/** The stream of an API that has none: what a provider sends all the same passes. */
export const unwatchedStream: StreamWatcher = {
  facts: {},
  hasEnded: true,
  see: () => "content",
};
