import type { NativeFormat } from "../../chat/formats.ts";
import { completionsErrors, readCompletionsError } from "../completions/errors.ts";
import { TypedEvents } from "../typed-events.ts";

/** OpenAI's speech on both sides: text in, audio out. */
export const speechNative: NativeFormat = {
  name: "speech",
  ...completionsErrors,
  reads: {},
  readResponse: () => {
    throw new Error("the response is not audio");
  },
  contentOf: (type) => (isAudio(type) ? "bytes" : undefined),
  unitsOf: ({ input }) => (typeof input === "string" ? { characters: [...input].length } : {}),
  watchStream: () => new TypedEvents((type) => type === "speech.audio.done"),
  readError: readCompletionsError,
  adapt: () => {},
};

/** Some servers send audio without naming its format. */
function isAudio(type: string): boolean {
  return /^(?:audio\/|application\/(?:octet-stream|ogg)\b)/i.test(type) || type === "";
}
