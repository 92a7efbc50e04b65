import type { UpstreamFormat } from "../../chat/formats.ts";
import { readGenerateContentError } from "./errors.ts";
import { generateContentFates, writeGenerateContentRequest } from "./request-writer.ts";
import { readGenerateContentResponse } from "./response-reader.ts";
import { GenerateContentStreamReader } from "./stream-reader.ts";

/** Google's generateContent, of the Gemini API and of Vertex AI, for clients that speak another format. */
export const generateContentUpstream: UpstreamFormat = {
  name: "generateContent",
  fates: generateContentFates,
  writeRequest: writeGenerateContentRequest,
  readResponse: readGenerateContentResponse,
  openStream: (limit) => new GenerateContentStreamReader(limit),
  readError: readGenerateContentError,
};
