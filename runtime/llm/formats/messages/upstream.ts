import type { UpstreamFormat } from "../../chat/formats.ts";
import { fitClaudeSchema } from "../claude-schema.ts";
import { SseStreamReader } from "../sse-stream-reader.ts";
import { readMessagesError } from "./errors.ts";
import { betasOf } from "./hosted-tools.ts";
import { MESSAGES_SUPPORT, writeMessagesRequest } from "./request-writer.ts";
import { messagesResponseFields } from "./response-fields.ts";
import { readMessagesResponse } from "./response-reader.ts";
import { MessagesEventReader } from "./stream-reader.ts";

/** Servers of Anthropic's Messages API, for clients with another format. */
export const messagesUpstream: UpstreamFormat = {
  name: "messages",
  support: MESSAGES_SUPPORT,
  fitSchema: fitClaudeSchema,
  toolNames: /^[a-zA-Z0-9_-]{1,128}$/,
  writeRequest: writeMessagesRequest,
  headersFor: betasOf,
  readResponse: readMessagesResponse,
  responseFields: messagesResponseFields,
  openStream: (limit, lost) => new SseStreamReader(new MessagesEventReader(lost), limit),
  readError: readMessagesError,
};
