import type { NativeFormat } from "../../chat/formats.ts";
import { completionsErrors, readCompletionsError } from "../completions/errors.ts";
import { readResponsesUsage } from "../responses/usage.ts";
import { TypedEvents } from "../typed-events.ts";

/** OpenAI's images on both sides: generations, edits and variations. */
export const imagesNative: NativeFormat = {
  name: "images",
  ...completionsErrors,
  // Images are not parsed.
  reads: { usage: true },
  readResponse: ({ usage }) => ({ usage: readResponsesUsage(usage) }),
  mayIgnoreStream: true,
  // A form has numbers as text.
  unitsOf: ({ n }) => ({ images: Number(n ?? 1) || 1 }),
  watchStream: () => new TypedEvents((type) => /^image_(?:generation|edit)\.completed$/.test(type)),
  readError: readCompletionsError,
  adapt: () => {},
};
