import type { JsonObject } from "../../../cel/variables.ts";
import { type HeaderList, headerValue } from "../../../http/headers/header-list.ts";
import type { Dialect } from "../../chat/formats.ts";
import { LlmRefusal } from "../../chat/llm-error.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { OBJECT_INSTRUCTION } from "../object-instruction.ts";
import { parseObject } from "../parse-object.ts";
import { type ClaudeReasoning, claudeReasoning } from "../thinking.ts";
import { CachePoints } from "./cache-points.ts";
import { claudeBetas } from "./claude-betas.ts";
import { ContentWriter } from "./content-writer.ts";
import { modelFamily } from "./model-family.ts";
import { serialChoice, toolConfig } from "./tool-config.ts";

/** Tokens of a completion with reasoning, apart from the reasoning, if the client sets no limit. */
const DEFAULT_MAX_TOKENS = 4096;

/** Writes a request for Bedrock's Converse. The model is in its path. */
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
  const reasoning = reasoningOf(request);
  const { isThinking } = reasoning;
  // In the order in which the model reads them, because the number of cache points is limited.
  const points = new CachePoints(model, dialect.caching);
  const tools = toolConfig(request, points, isThinking);
  const system = systemOf(request, points);
  return {
    messages: new ContentWriter(request, points).messages(),
    system: system.length === 0 ? undefined : system,
    inferenceConfig: inferenceConfig(request, reasoning),
    toolConfig: tools,
    guardrailConfig: guardrail && {
      guardrailIdentifier: guardrail.identifier,
      guardrailVersion: guardrail.version,
      trace: "enabled",
    },
    additionalModelRequestFields: additionalFields(request, headers, reasoning),
    outputConfig: output?.kind === "schema" ? { textFormat: textFormat(output) } : undefined,
    requestMetadata: requestMetadata(headers),
  };
}

/** Only models of Claude have reasoning in fields of their own. */
function reasoningOf(request: ChatRequest): ClaudeReasoning {
  if (modelFamily(request.model) === "claude") return claudeReasoning(request, DEFAULT_MAX_TOKENS);
  return {
    maxTokens: request.maxTokens,
    thinking: undefined,
    effort: undefined,
    isThinking: false,
    takesSampling: true,
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
  { maxTokens, isThinking, takesSampling }: ClaudeReasoning,
): JsonObject | undefined {
  const isSampled = takesSampling && !isThinking;
  const config = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined &&
      isSampled && { temperature: Math.min(1, Math.max(0, temperature)) }),
    ...(topP !== undefined && isSampled && { topP }),
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

/** Returns the model-specific fields of a request; `undefined` if it has none of them. Throws LlmRefusal. */
function additionalFields(
  request: ChatRequest,
  headers: HeaderList,
  { thinking, effort, isThinking, takesSampling }: ClaudeReasoning,
): JsonObject | undefined {
  const choice = serialChoice(request, isThinking);
  const betas = modelFamily(request.model) === "claude" ? claudeBetas(headers) : [];
  const fields: JsonObject = {
    ...(thinking && { thinking }),
    ...(effort !== undefined && { output_config: { effort } }),
    ...(takesSampling && !isThinking && topK(request)),
    ...(choice && { tool_choice: choice }),
    ...(betas.length > 0 && { anthropic_beta: betas }),
  };
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function topK({ topK: value, model, features }: ChatRequest): JsonObject {
  if (value === undefined) return {};
  switch (modelFamily(model)) {
    case "claude":
      return { top_k: value };
    case "nova":
      return { inferenceConfig: { topK: value } };
    default: {
      const message = "the model does not support this parameter";
      throw new LlmRefusal({ kind: "unsupported", message, field: features.get("topK") });
    }
  }
}

/** Returns the client's metadata for Bedrock's invocation log: strings by name. Throws LlmRefusal for any other value. */
function requestMetadata(headers: HeaderList): JsonObject | undefined {
  const text = headerValue(headers, "x-bedrock-metadata");
  if (text === undefined) return undefined;
  const fields = parseObject(text);
  if (fields !== undefined && Object.values(fields).every((value) => typeof value === "string")) {
    return fields;
  }
  const message = "the header x-bedrock-metadata must be a JSON object of strings";
  throw new LlmRefusal({ kind: "invalid", message });
}
