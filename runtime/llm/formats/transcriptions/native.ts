import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { NativeFormat, ResponseFacts } from "../../chat/formats.ts";
import { tokenCount } from "../../chat/usage.ts";
import { completionsErrors, readCompletionsError } from "../completions/errors.ts";
import { readResponsesUsage } from "../responses/usage.ts";
import { TypedEvents } from "../typed-events.ts";

/** OpenAI's transcriptions and translations of audio on both sides. */
export const transcriptionsNative: NativeFormat = {
  name: "transcriptions",
  ...completionsErrors,
  reads: { usage: true, duration: true },
  readResponse: readFacts,
  // Some models ignore that a stream is requested.
  mayIgnoreStream: true,
  contentOf: (type) => (SUBTITLES.test(type) ? "text" : undefined),
  watchStream: () => new TypedEvents((type) => type === "transcript.text.done", readFacts),
  readError: readCompletionsError,
  adapt: () => {},
};

/** Content types of a response that is not JSON: text, SRT or VTT. */
const SUBTITLES = /^(?:text\/(?:plain|vtt|srt)|application\/(?:x-)?(?:subrip|srt))\s*(?:;|$)/i;

/** Reads the tokens of a response, or the seconds that are billed instead. */
function readFacts({ usage, duration }: JsonObject): ResponseFacts {
  const tokens = readResponsesUsage(usage);
  if (tokens !== undefined) return { usage: tokens };
  const billed = isJsonObject(usage) ? usage.seconds : duration;
  const seconds = tokenCount(typeof billed === "string" ? Number(billed) : billed);
  return seconds === undefined ? {} : { units: { seconds } };
}
