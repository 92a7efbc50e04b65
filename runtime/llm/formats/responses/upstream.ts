import type { UpstreamFormat } from "../../chat/formats.ts";
import { readCompletionsError } from "../completions/errors.ts";
import { fitOpenaiSchema } from "../openai-schema.ts";
import { SseStreamReader } from "../sse-stream-reader.ts";
import { RESPONSES_SUPPORT, writeResponsesRequest } from "./request-writer.ts";
import { responsesResponseFields } from "./response-fields.ts";
import { readResponsesResponse } from "./response-reader.ts";
import { ResponsesEventReader } from "./stream-reader.ts";

/** Servers of OpenAI's Responses API, for clients with another format. */
export const responsesUpstream: UpstreamFormat = {
  name: "responses",
  support: RESPONSES_SUPPORT,
  fitSchema: fitOpenaiSchema,
  toolNames: /^[a-zA-Z0-9_-]{1,64}$/,
  writeRequest: writeResponsesRequest,
  readResponse: readResponsesResponse,
  responseFields: responsesResponseFields,
  openStream: (limit, lost) => new SseStreamReader(new ResponsesEventReader(lost), limit),
  readError: readCompletionsError,
};
