import type { JsonObject } from "../../../cel/variables.ts";
import type { ContentBlock, ToolResultBlock } from "../../chat/content.ts";
import type { FeatureSupport } from "../../chat/features.ts";
import type { Dialect } from "../../chat/formats.ts";
import type { ChatRequest, OutputFormat, Reasoning, ToolChoice, Turn } from "../../chat/request.ts";
import { dataUrl, decodedFile, fileName } from "../data-url.ts";
import { isReasoningModel } from "../openai-models.ts";
import { shortId } from "../short-name.ts";
import { stopWithin } from "../stop-within.ts";
import { effortOf } from "../thinking.ts";
import { userId } from "../user-id.ts";
import { replayedDetails } from "./reasoning-details.ts";
import { completionsToolCall } from "./tool-call.ts";

/** Support of features in chat completions. */
export const COMPLETIONS_SUPPORT: FeatureSupport = {
  imageUrl: "kept",
  image: "kept",
  documentUrl: "refused",
  document: "kept",
  fileReference: "refused",
  audio: "kept",
  // Tool results are text here; their images and files follow in a user message.
  toolResultMedia: "changed",
  toolError: "changed",
  strictTools: "kept",
  toolChoice: "kept",
  allowedTools: "kept",
  parallelTools: "kept",
  webSearch: "refused",
  webFetch: "refused",
  codeExecution: "refused",
  connectors: "refused",
  temperature: "kept",
  topP: "kept",
  topK: "dropped",
  penalties: "kept",
  seed: "kept",
  // Only the first choice is translated.
  choices: "refused",
  stop: "kept",
  blankStop: "kept",
  objectOutput: "kept",
  schemaOutput: "kept",
  reasoning: "changed",
  // Only models whose servers expect it back get it.
  reasoningReplay: "changed",
  cacheMarks: "dropped",
  user: "kept",
};

/** Writes a request for OpenAI's chat completions. */
export function writeCompletionsRequest(
  request: ChatRequest,
  { maxTokensField = "max_completion_tokens" }: Dialect,
): string {
  const { tools, choices, stop } = request;
  return JSON.stringify({
    model: request.model,
    messages: [
      ...systemMessage(request),
      ...request.turns.flatMap((turn) => messagesOf(turn, request.model)),
    ],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema: parameters, isStrict: strict }) => ({
        type: "function",
        function: { name, description, parameters, strict },
      })),
      tool_choice: request.toolChoice && toolChoice(request.toolChoice),
      parallel_tool_calls: request.parallelTools,
    }),
    [isReasoningModel(request.model) ? "max_completion_tokens" : maxTokensField]: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    seed: request.seed,
    n: choices,
    stop: stop.length === 0 ? undefined : stopWithin(request, MAX_STOP),
    response_format: request.output && responseFormat(request.output),
    reasoning_effort: request.reasoning && reasoningEffort(request.reasoning),
    user: userId(request.user, MAX_USER),
    ...(request.isStream && { stream: true, stream_options: { include_usage: true } }),
  });
}

/** Maximum length of OpenAI's `user`. */
const MAX_USER = 64;
/** Maximum number of stop sequences. */
const MAX_STOP = 4;
/** Maximum length of ids of calls. */
const MAX_CALL_ID = 40;

function systemMessage({ system }: ChatRequest): readonly JsonObject[] {
  if (system.length === 0) return [];
  const [only] = system;
  const content = system.length === 1 ? only?.text : system.map(({ text }) => textPart(text));
  return [{ role: "system", content }];
}

function messagesOf({ role, blocks }: Turn, model: string): readonly JsonObject[] {
  return role === "assistant" ? [assistantMessage(blocks, model)] : userMessages(blocks);
}

/** Places tool results first: they must directly follow the calls. */
function userMessages(blocks: readonly ContentBlock[]): readonly JsonObject[] {
  const results = blocks.filter((block) => block.kind === "tool-result");
  const shown = results.flatMap(({ id, content }) => {
    const media = content.filter((block) => block.kind !== "text");
    return media.length === 0 ? [] : [textPart(`Shown by tool call ${id}:`), ...media.map(part)];
  });
  const parts = [...shown, ...blocks.filter((block) => block.kind !== "tool-result").map(part)];
  const [only] = parts;
  const isText = parts.length === 1 && only?.type === "text";
  const message = { role: "user", content: isText ? only.text : parts };
  return [...results.map(toolMessage), ...(parts.length === 0 ? [] : [message])];
}

function toolMessage({ id, content, isError }: ToolResultBlock): JsonObject {
  const text = content.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("\n");
  return {
    role: "tool",
    tool_call_id: shortId(id, MAX_CALL_ID),
    content: isError ? `Error: ${text}` : text,
  };
}

function part(block: ContentBlock): JsonObject {
  switch (block.kind) {
    case "text":
      return textPart(block.text);
    case "image": {
      const { source, detail } = block;
      const url =
        source.kind === "base64" ? dataUrl(source) : source.kind === "url" ? source.url : "";
      // The closest value that chat completions define.
      const known = detail === "original" ? "high" : detail;
      return { type: "image_url", image_url: { url, detail: known } };
    }
    case "document": {
      const { source, name } = block;
      if (source.kind === "text") return textPart(source.text);
      // Other sources are refused earlier.
      if (source.kind !== "base64") return textPart("");
      // Many servers take no files but PDF.
      const text = decodedFile(source);
      if (text !== undefined) return textPart(name === undefined ? text : `${name}:\n${text}`);
      const filename = name ?? fileName(source);
      return { type: "file", file: { filename, file_data: dataUrl(source) } };
    }
    case "audio":
      return { type: "input_audio", input_audio: { data: block.data, format: block.format } };
    default:
      // Calls and reasoning belong to the assistant.
      return textPart("");
  }
}

function textPart(text: string): JsonObject {
  return { type: "text", text };
}

function assistantMessage(blocks: readonly ContentBlock[], model: string): JsonObject {
  const texts = blocks.flatMap((block) => (block.kind === "text" ? [block.text] : []));
  const calls = blocks.flatMap((block) => (block.kind === "tool-call" ? [block] : []));
  return {
    role: "assistant",
    content: texts.length === 0 ? (calls.length === 0 ? "" : null) : texts.join(""),
    reasoning_content: replayedReasoning(blocks, model),
    reasoning_details: replayedDetails(blocks),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) =>
        completionsToolCall({ ...call, id: shortId(call.id, MAX_CALL_ID) }),
      ),
    }),
  };
}

/**
 * Returns reasoning that the servers of a model expect back, which other servers refuse. DeepSeek requires the member next to
 * calls even if it is empty, as for calls of another model.
 */
function replayedReasoning(blocks: readonly ContentBlock[], model: string): string | undefined {
  if (!REPLAYING_MODEL.test(model)) return undefined;
  const texts = blocks.flatMap((block) => (block.kind === "reasoning" ? [block.text] : []));
  const isRequired = /deepseek/i.test(model) && blocks.some(({ kind }) => kind === "tool-call");
  return texts.length > 0 || isRequired ? texts.join("\n\n") : undefined;
}

const REPLAYING_MODEL = /deepseek|kimi|mimo-|glm-|minimax/i;

function toolChoice(choice: ToolChoice): unknown {
  return choice.kind === "tool"
    ? { type: "function", function: { name: choice.name } }
    : choice.kind;
}

function responseFormat(output: OutputFormat): JsonObject {
  if (output.kind === "object") return { type: "json_object" };
  const { name, description, schema, isStrict: strict } = output;
  return { type: "json_schema", json_schema: { name, description, schema, strict } };
}

function reasoningEffort(reasoning: Reasoning): string {
  if (reasoning.kind === "off") return "none";
  const effort = effortOf(reasoning);
  // The highest that OpenAI's documentation lists.
  return effort === "max" ? "xhigh" : effort;
}
