import type { ClientFormat } from "../../chat/formats.ts";
import { generateContentErrors } from "./errors.ts";
import { readGenerateContentRequest } from "./request-reader.ts";
import { writeGenerateContentResponse } from "./response-writer.ts";
import { GenerateContentStreamWriter } from "./stream-writer.ts";

/** Google's generateContent, for providers with another format. */
export const generateContentClient: ClientFormat = {
  name: "generateContent",
  ...generateContentErrors,
  readRequest: readGenerateContentRequest,
  writeResponse: writeGenerateContentResponse,
  openStream: (request) => new GenerateContentStreamWriter(request),
};
