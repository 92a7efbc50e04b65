import type { UpstreamFormat } from "../../chat/formats.ts";
import { fitOpenaiSchema } from "../openai-schema.ts";
import { SseStreamReader } from "../sse-stream-reader.ts";
import { readCompletionsError } from "./errors.ts";
import { COMPLETIONS_SUPPORT, writeCompletionsRequest } from "./request-writer.ts";
import { completionsResponseFields } from "./response-fields.ts";
import { readCompletionsResponse } from "./response-reader.ts";
import { CompletionsEventReader } from "./stream-reader.ts";

/** Servers of OpenAI's chat completions, for clients with another format. */
export const completionsUpstream: UpstreamFormat = {
  name: "completions",
  support: COMPLETIONS_SUPPORT,
  fitSchema: fitOpenaiSchema,
  toolNames: /^[a-zA-Z0-9_-]{1,64}$/,
  writeRequest: writeCompletionsRequest,
  readResponse: readCompletionsResponse,
  responseFields: completionsResponseFields,
  openStream: (limit, lost) => new SseStreamReader(new CompletionsEventReader(lost), limit),
  readError: readCompletionsError,
};
