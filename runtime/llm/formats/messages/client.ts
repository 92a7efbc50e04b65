import type { ClientFormat } from "../../chat/formats.ts";
import { messagesError, messagesErrorEvent } from "./errors.ts";
import { readMessagesRequest } from "./request-reader.ts";
import { writeMessagesResponse } from "./response-writer.ts";
import { MessagesStreamWriter } from "./stream-writer.ts";

/** Anthropic's Messages API, for providers that speak another format. */
export const messagesClient: ClientFormat = {
  name: "messages",
  errorBody: messagesError,
  errorEvent: messagesErrorEvent,
  readRequest: readMessagesRequest,
  writeResponse: writeMessagesResponse,
  openStream: (call) => new MessagesStreamWriter(call),
};
