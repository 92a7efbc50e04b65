import type { TextFormat } from "../../chat/texts.ts";

/** Texts of requests for embeddings. Responses have none, and are not streamed. */
export const embeddingsTexts: TextFormat = {
  request: ["input"],
  // Inputs may be lists of tokens.
  unreadable: ({ input }) =>
    Array.isArray(input) && input.some((each) => typeof each !== "string") ? "input" : undefined,
  plain: new Set(["model", "dimensions", "encoding_format", "user"]),
  response: [],
  plainResponse: new Set(["object", "data", "model", "usage", "id", "created"]),
  openStream: () => ({ see: (event) => [event], end: () => [] }),
};
