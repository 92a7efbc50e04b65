import type { NativeFormat } from "../../chat/formats.ts";
import { completionsErrors, readCompletionsError } from "../completions/errors.ts";
import { UNWATCHED_STREAM } from "../unwatched-stream.ts";

/** OpenAI's moderation on both sides. Providers report no tokens. */
export const moderationsNative: NativeFormat = {
  name: "moderations",
  ...completionsErrors,
  reads: { model: true },
  readResponse: ({ id, model }) => ({
    id: typeof id === "string" ? id : undefined,
    model: typeof model === "string" ? model : undefined,
  }),
  watchStream: () => UNWATCHED_STREAM,
  readError: readCompletionsError,
  adapt: () => {},
};
