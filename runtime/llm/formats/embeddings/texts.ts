import type { TextFormat } from "../../chat/texts.ts";

/** Where requests for embeddings have texts; responses have none, and nothing is streamed. */
export const embeddingsTexts: TextFormat = {
  request: ["input"],
  response: [],
  openStream: () => ({ see: (event) => [event], end: () => [] }),
};
