import type { NativeFormat } from "../../chat/formats.ts";
import { messagesErrors, readMessagesError } from "../messages/errors.ts";
import { UNWATCHED_STREAM } from "../unwatched-stream.ts";

/** Anthropic's token counting, which uses no tokens. */
export const tokenCountNative: NativeFormat = {
  name: "tokenCount",
  ...messagesErrors,
  reads: { input_tokens: true },
  readResponse: ({ input_tokens: counted }) => (typeof counted === "number" ? { counted } : {}),
  watchStream: () => UNWATCHED_STREAM,
  readError: readMessagesError,
  adapt: () => {},
};
