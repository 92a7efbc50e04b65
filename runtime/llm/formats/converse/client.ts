import type { ClientFormat } from "../../chat/formats.ts";
import { converseErrors } from "./errors.ts";
import { readConverseRequest } from "./request-reader.ts";
import { writeConverseResponse } from "./response-writer.ts";
import { ConverseStreamWriter } from "./stream-writer.ts";

/** Bedrock's Converse and ConverseStream, for providers with another format. */
export const converseClient: ClientFormat = {
  name: "converse",
  ...converseErrors,
  readRequest: readConverseRequest,
  writeResponse: writeConverseResponse,
  openStream: (request) => new ConverseStreamWriter(request),
};
