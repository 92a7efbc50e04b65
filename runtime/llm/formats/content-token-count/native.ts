import type { NativeFormat } from "../../chat/formats.ts";
import { generateContentErrors, readGenerateContentError } from "../generate-content/errors.ts";
import { UNWATCHED_STREAM } from "../unwatched-stream.ts";
import { wrapCountedRequest } from "./counted-request.ts";

/** Google's token counting, which uses no tokens: https://ai.google.dev/api/tokens. */
export const contentTokenCountNative: NativeFormat = {
  name: "contentTokenCount",
  ...generateContentErrors,
  reads: { totalTokens: true },
  readResponse: ({ totalTokens: counted }) => (typeof counted === "number" ? { counted } : {}),
  watchStream: () => UNWATCHED_STREAM,
  readError: readGenerateContentError,
  adapt: wrapCountedRequest,
};
