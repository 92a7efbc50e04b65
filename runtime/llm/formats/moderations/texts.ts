import type { TextFormat } from "../../chat/texts.ts";

/** Texts of requests for a moderation. Responses only have scores. */
export const moderationsTexts: TextFormat = {
  request: ["input"],
  plain: new Set(["model"]),
  response: [],
  plainResponse: new Set(["id", "model", "results", "usage"]),
  openStream: () => ({ see: (event) => [event], end: () => [] }),
};
