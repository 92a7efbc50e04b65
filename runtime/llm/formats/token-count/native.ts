import type { NativeFormat } from "../../chat/formats.ts";
import { messagesErrors, readMessagesError } from "../messages/errors.ts";
import { unwatchedStream } from "../unwatched-stream.ts";

/** Anthropic's counting of the tokens of a request: nothing is used up by it. */
export const tokenCountNative: NativeFormat = {
  name: "tokenCount",
  ...messagesErrors,
  reads: { input_tokens: true },
  readResponse: ({ input_tokens: counted }) => (typeof counted === "number" ? { counted } : {}),
  watchStream: () => unwatchedStream,
  readError: readMessagesError,
  adapt: () => {},
};
