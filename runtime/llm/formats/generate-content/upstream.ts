import type { UpstreamFormat } from "../../chat/formats.ts";
import { SseStreamReader } from "../sse-stream-reader.ts";
import { readGenerateContentError } from "./errors.ts";
import { GENERATE_CONTENT_SUPPORT, writeGenerateContentRequest } from "./request-writer.ts";
import { generateContentResponseFields } from "./response-fields.ts";
import { readGenerateContentResponse } from "./response-reader.ts";
import { fitGeminiSchema } from "./schema.ts";
import { GenerateContentEventReader } from "./stream-reader.ts";

/** Google's generateContent, of the Gemini API and of Vertex AI, for clients with another format. */
export const generateContentUpstream: UpstreamFormat = {
  name: "generateContent",
  support: GENERATE_CONTENT_SUPPORT,
  fitSchema: fitGeminiSchema,
  fitsAllTools: true,
  toolNames: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/,
  writeRequest: writeGenerateContentRequest,
  readResponse: readGenerateContentResponse,
  responseFields: generateContentResponseFields,
  openStream: (limit, lost) => new SseStreamReader(new GenerateContentEventReader(lost), limit),
  readError: readGenerateContentError,
};
