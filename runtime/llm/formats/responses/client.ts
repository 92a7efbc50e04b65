import type { ClientFormat } from "../../chat/formats.ts";
import { responsesErrors } from "./errors.ts";
import { readResponsesRequest } from "./request-reader.ts";
import { writeResponsesResponse } from "./response-writer.ts";
import { ResponsesStreamWriter } from "./stream-writer.ts";

/** OpenAI's Responses API, for providers that speak another format. */
export const responsesClient: ClientFormat = {
  name: "responses",
  ...responsesErrors,
  readRequest: readResponsesRequest,
  writeResponse: writeResponsesResponse,
  openStream: (request) => new ResponsesStreamWriter(request),
};
