import type { JsonObject } from "../../../cel/variables.ts";
import type { HeaderList } from "../../../http/headers/header-list.ts";
import type { Dialect } from "../../chat/formats.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { OBJECT_INSTRUCTION } from "../object-instruction.ts";
import { thinkingWithin, wantedThinking } from "../thinking.ts";
import { CachePoints } from "./cache-points.ts";
import { ContentWriter } from "./content-writer.ts";
import { modelFamily } from "./model-family.ts";
import { additionalFields, requestMetadata } from "./request-extras.ts";
import { toolConfig } from "./tool-config.ts";

/** Tokens of a completion that thinks when the client sets no limit. */
const DEFAULT_MAX_TOKENS = 4096;

/** Writes a request as Bedrock's Converse takes it; the model stands in its path. */
export function writeConverseRequest(
  request: ChatRequest,
  dialect: Dialect,
  headers: HeaderList,
): string {
  return JSON.stringify(converseBody(request, dialect, headers));
}

function converseBody(request: ChatRequest, dialect: Dialect, headers: HeaderList): JsonObject {
  const { model, output } = request;
  const { guardrail } = dialect;
  const wanted = modelFamily(model) === "claude" ? wantedThinking(request) : undefined;
  const maxTokens = request.maxTokens ?? (wanted && DEFAULT_MAX_TOKENS + wanted);
  const thinking = thinkingWithin(wanted, maxTokens ?? DEFAULT_MAX_TOKENS);
  // In the order in which the model reads them: cache points are few.
  const points = new CachePoints(model, dialect.caching);
  const tools = toolConfig(request, points, thinking !== undefined);
  const system = systemOf(request, points);
  return {
    messages: new ContentWriter(request, points).messages(),
    system: system.length === 0 ? undefined : system,
    inferenceConfig: inferenceConfig(request, maxTokens, thinking !== undefined),
    toolConfig: tools,
    guardrailConfig: guardrail && {
      guardrailIdentifier: guardrail.identifier,
      guardrailVersion: guardrail.version,
      trace: "enabled",
    },
    additionalModelRequestFields: additionalFields(request, headers, thinking),
    outputConfig: output?.kind === "schema" ? { textFormat: textFormat(output) } : undefined,
    requestMetadata: requestMetadata(headers),
  };
}

function systemOf({ system, output }: ChatRequest, points: CachePoints): readonly JsonObject[] {
  const blocks = system
    .filter(({ text }) => text.trim() !== "")
    .flatMap(({ text, cache }): readonly JsonObject[] => [{ text }, ...points.marked(cache)]);
  if (output?.kind === "object") blocks.push({ text: OBJECT_INSTRUCTION });
  return [...blocks, ...points.after("system", blocks)];
}

function inferenceConfig(
  { temperature, topP, stop: stopSequences }: ChatRequest,
  maxTokens: number | undefined,
  isThinking: boolean,
): JsonObject | undefined {
  const config = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined &&
      !isThinking && { temperature: Math.min(1, Math.max(0, temperature)) }),
    ...(topP !== undefined && !isThinking && { topP }),
    ...(stopSequences.length > 0 && { stopSequences }),
  };
  return Object.keys(config).length === 0 ? undefined : config;
}

function textFormat({
  name,
  description,
  schema,
}: Extract<ChatRequest["output"], { kind: "schema" }>): JsonObject {
  return {
    type: "json_schema",
    structure: { jsonSchema: { schema: JSON.stringify(schema), name, description } },
  };
}
