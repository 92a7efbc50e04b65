import type { NativeFormat } from "../../chat/formats.ts";
import { completionsErrors, readCompletionsError } from "../completions/errors.ts";
import { readCompletionsUsage } from "../completions/usage.ts";
import { UNWATCHED_STREAM } from "../unwatched-stream.ts";

/** OpenAI's embeddings on both sides. */
export const embeddingsNative: NativeFormat = {
  name: "embeddings",
  ...completionsErrors,
  reads: { model: true, usage: true },
  readResponse: ({ model, usage }) => ({
    model: typeof model === "string" ? model : undefined,
    usage: readCompletionsUsage(usage),
  }),
  watchStream: () => UNWATCHED_STREAM,
  readError: readCompletionsError,
  adapt: () => {},
};
