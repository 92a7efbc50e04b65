import type { FeatureSupport } from "../../chat/features.ts";
import type { UpstreamFormat } from "../../chat/formats.ts";
import { fitClaudeSchema } from "../claude-schema.ts";
import { readConverseError } from "./errors.ts";
import { writeConverseRequest } from "./request-writer.ts";
import { converseResponseFields } from "./response-fields.ts";
import { readConverseResponse } from "./response-reader.ts";
import { ConverseStreamReader } from "./stream-reader.ts";

/** Support of features in Bedrock's Converse. */
const CONVERSE_SUPPORT: FeatureSupport = {
  // The gateway does not fetch URLs that clients send.
  imageUrl: "refused",
  image: "kept",
  documentUrl: "refused",
  document: "kept",
  fileReference: "refused",
  audio: "refused",
  toolResultMedia: "kept",
  toolError: "kept",
  strictTools: "kept",
  // `none` removes the tools; while Claude reasons, no tool can be forced.
  toolChoice: "changed",
  allowedTools: "kept",
  // Claude supports it; for other models, only the first call is forwarded.
  parallelTools: "changed",
  webSearch: "refused",
  webFetch: "refused",
  codeExecution: "refused",
  connectors: "refused",
  // Range 0..1 here: higher values become 1. Not with Claude's reasoning, and neither are topP and topK.
  temperature: "changed",
  topP: "kept",
  // Only Claude and Nova; refused for other models.
  topK: "kept",
  penalties: "dropped",
  seed: "dropped",
  choices: "refused",
  stop: "kept",
  blankStop: "refused",
  objectOutput: "changed",
  schemaOutput: "kept",
  // Only Claude; others ignore it.
  reasoning: "changed",
  // Only with signatures.
  reasoningReplay: "changed",
  // Up to four, for models that cache.
  cacheMarks: "changed",
  user: "dropped",
};

/** Bedrock's Converse and ConverseStream. */
export const converseUpstream: UpstreamFormat = {
  name: "converse",
  support: CONVERSE_SUPPORT,
  fitSchema: fitClaudeSchema,
  toolNames: /^[a-zA-Z0-9_-]{1,64}$/,
  writeRequest: writeConverseRequest,
  readResponse: readConverseResponse,
  responseFields: converseResponseFields,
  openStream: (limit, lost) => new ConverseStreamReader(limit, lost),
  readError: readConverseError,
};
