import type { TextFormat } from "../../chat/texts.ts";

/** Where requests for embeddings have texts; responses have none, and nothing is streamed. */
export const embeddingsTexts: TextFormat = {
  request: ["input"],
  // Texts may come as the numbers of their tokens.
  unreadable: ({ input }) =>
    Array.isArray(input) && input.some((each) => typeof each !== "string") ? "input" : undefined,
  plain: new Set(["model", "dimensions", "encoding_format", "user"]),
  response: [],
  plainResponse: new Set(["object", "data", "model", "usage", "id", "created"]),
  openStream: () => ({ see: (event) => [event], end: () => [] }),
};
