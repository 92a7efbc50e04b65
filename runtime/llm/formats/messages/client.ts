import type { ClientFormat } from "../../chat/formats.ts";
import { messagesErrors } from "./errors.ts";
import { readMessagesRequest } from "./request-reader.ts";
import { writeMessagesResponse } from "./response-writer.ts";
import { MessagesStreamWriter } from "./stream-writer.ts";

/** Anthropic's Messages API, for providers with another format. */
export const messagesClient: ClientFormat = {
  name: "messages",
  ...messagesErrors,
  readRequest: readMessagesRequest,
  writeResponse: writeMessagesResponse,
  openStream: (request) => new MessagesStreamWriter(request),
};
