import type { ClientFormat } from "../../chat/formats.ts";
import { completionsErrors } from "./errors.ts";
import { readCompletionsRequest } from "./request-reader.ts";
import { writeCompletionsResponse } from "./response-writer.ts";
import { CompletionsStreamWriter } from "./stream-writer.ts";

/** OpenAI's chat completions, for providers with another format. */
export const completionsClient: ClientFormat = {
  name: "completions",
  ...completionsErrors,
  readRequest: readCompletionsRequest,
  writeResponse: writeCompletionsResponse,
  openStream: (request) => new CompletionsStreamWriter(request),
};
