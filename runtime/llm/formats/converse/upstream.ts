import type { UpstreamFormat } from "../../chat/formats.ts";
import { readConverseError } from "./errors.ts";
import { converseFates } from "./fates.ts";
import { writeConverseRequest } from "./request-writer.ts";
import { readConverseResponse } from "./response-reader.ts";
import { ConverseStreamReader } from "./stream-reader.ts";

/** Bedrock's Converse and ConverseStream. */
export const converseUpstream: UpstreamFormat = {
  name: "converse",
  fates: converseFates,
  toolNames: /^[a-zA-Z0-9_-]{1,64}$/,
  writeRequest: writeConverseRequest,
  readResponse: readConverseResponse,
  openStream: (limit) => new ConverseStreamReader(limit),
  readError: readConverseError,
};
