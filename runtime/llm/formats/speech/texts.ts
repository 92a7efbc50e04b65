import type { TextFormat } from "../../chat/texts.ts";

/** Texts of requests for speech. Responses are audio. */
export const speechTexts: TextFormat = {
  request: ["input", "instructions"],
  plain: new Set(["model", "voice", "response_format", "speed", "stream_format", "language"]),
  response: [],
  plainResponse: new Set(),
  openStream: () => ({ see: (event) => [event], end: () => [] }),
};
