import type { JsonObject } from "../../../cel/variables.ts";
import type {
  ContentBlock,
  MediaSource,
  ReasoningBlock,
  ToolResultBlock,
} from "../../chat/content.ts";
import { type FeatureSupport, refuseFeature } from "../../chat/features.ts";
import {
  type ChatRequest,
  hasHostedTools,
  type OutputFormat,
  type Reasoning,
  type Turn,
} from "../../chat/request.ts";
import type { WebSearch } from "../../chat/web-search.ts";
import { dataUrl, fileName } from "../data-url.ts";
import { isReasoningModel } from "../openai-models.ts";
import { encryptedReasoning } from "../openai-reasoning.ts";
import { shortId } from "../short-name.ts";
import { effortOf } from "../thinking.ts";
import { userId } from "../user-id.ts";
import { openAiTools } from "./hosted-tools.ts";

/** Support of features in the Responses API. */
export const RESPONSES_SUPPORT: FeatureSupport = {
  imageUrl: "kept",
  image: "kept",
  documentUrl: "kept",
  document: "kept",
  fileReference: "refused",
  audio: "refused",
  toolResultMedia: "kept",
  toolError: "changed",
  strictTools: "kept",
  toolChoice: "kept",
  allowedTools: "kept",
  parallelTools: "kept",
  webSearch: "kept",
  // Its own search opens pages, but not those of the client only.
  webFetch: "refused",
  codeExecution: "kept",
  connectors: "kept",
  temperature: "kept",
  topP: "kept",
  topK: "dropped",
  penalties: "dropped",
  seed: "dropped",
  choices: "refused",
  stop: "refused",
  blankStop: "refused",
  objectOutput: "kept",
  schemaOutput: "kept",
  reasoning: "changed",
  // Only what a server of this API has encrypted.
  reasoningReplay: "changed",
  cacheMarks: "dropped",
  user: "kept",
};

/** Writes a request for OpenAI's Responses API. The client has the whole conversation, so that nothing is stored. */
export function writeResponsesRequest(request: ChatRequest): string {
  const { tools, webSearch, system, reasoning, maxTokens } = request;
  const reasons = isReasoningModel(request.model) || (reasoning && reasoning.kind !== "off");
  const included = [
    ...(reasons ? ["reasoning.encrypted_content"] : []),
    ...(webSearch === undefined ? [] : ["web_search_call.action.sources"]),
    ...(request.runsCode === true ? ["code_interpreter_call.outputs"] : []),
  ];
  return JSON.stringify({
    model: request.model,
    instructions: system.length === 0 ? undefined : system.map(({ text }) => text).join("\n\n"),
    input: request.turns.flatMap(itemsOf),
    ...((tools.length > 0 || hasHostedTools(request)) && {
      tools: [
        ...tools.map(({ name, description, schema: parameters, isStrict }) => {
          // Strict by default here, which many schemas do not allow.
          return { type: "function", name, description, parameters, strict: isStrict ?? false };
        }),
        ...(webSearch === undefined ? [] : [searchTool(request, webSearch)]),
        ...openAiTools(request),
      ],
      tool_choice: toolChoice(request),
      parallel_tool_calls: request.parallelTools,
      max_tool_calls: webSearch?.maxUses,
    }),
    max_output_tokens: maxTokens === undefined ? undefined : Math.max(maxTokens, MIN_TOKENS),
    temperature: sampling(request.temperature),
    top_p: sampling(request.topP),
    text: textOf(request),
    reasoning: reasoning && reasoningOf(reasoning),
    include: included.length === 0 ? undefined : included,
    user: userId(request.user, MAX_USER),
    ...request.openai,
    store: false,
    stream: request.isStream ? true : undefined,
  });
}

/** Minimum of `max_output_tokens`. */
const MIN_TOKENS = 16;
/** Maximum length of OpenAI's `user`. */
const MAX_USER = 64;
/** Maximum length of `call_id`. */
const MAX_CALL_ID = 64;

/** Omits the default, because models that reason refuse the field with any value. */
function sampling(value: number | undefined): number | undefined {
  return value === 1 ? undefined : value;
}

function itemsOf({ role, blocks }: Turn): readonly JsonObject[] {
  return role === "assistant" ? blocks.flatMap(assistantItems) : userItems(blocks);
}

/** Places the results of tools first: they must directly follow the calls. */
function userItems(blocks: readonly ContentBlock[]): readonly JsonObject[] {
  const results = blocks.filter((block) => block.kind === "tool-result");
  const others = blocks.filter((block) => block.kind !== "tool-result");
  const [only] = others;
  const isText = others.length === 1 && only?.kind === "text";
  const content = isText ? only.text : others.flatMap(part);
  return [...results.map(resultItem), ...(content.length === 0 ? [] : [{ role: "user", content }])];
}

function resultItem({ id, content, isError }: ToolResultBlock): JsonObject {
  const texts = content.flatMap((block) => (block.kind === "text" ? [block.text] : []));
  const isText = texts.length === content.length;
  const mark = isError ? "Error: " : "";
  const output = isText
    ? mark + texts.join("\n")
    : [...(isError ? [textPart(mark)] : []), ...content.flatMap(part)];
  return { type: "function_call_output", call_id: shortId(id, MAX_CALL_ID), output };
}

function assistantItems(block: ContentBlock): readonly JsonObject[] {
  switch (block.kind) {
    case "text":
      return block.text === "" ? [] : [{ role: "assistant", content: block.text }];
    case "tool-call": {
      const { id, name, input } = block;
      return [{ type: "function_call", call_id: shortId(id, MAX_CALL_ID), name, arguments: input }];
    }
    case "reasoning":
      return reasoningItems(block);
    default:
      return [];
  }
}

function reasoningItems(block: ReasoningBlock): readonly JsonObject[] {
  return encryptedReasoning(block).map(({ id, content }, index) => ({
    type: "reasoning",
    id,
    summary: index === 0 && block.text !== "" ? [{ type: "summary_text", text: block.text }] : [],
    encrypted_content: content,
  }));
}

function part(block: ContentBlock): readonly JsonObject[] {
  switch (block.kind) {
    case "text":
      return block.text === "" ? [] : [textPart(block.text)];
    case "image":
      return [
        { type: "input_image", image_url: urlOf(block.source), detail: block.detail ?? "auto" },
      ];
    case "document": {
      const { source, name } = block;
      if (source.kind === "text") return [textPart(source.text)];
      if (source.kind === "url") return [{ type: "input_file", file_url: source.url }];
      const filename = name ?? (source.kind === "base64" ? fileName(source) : undefined);
      return [{ type: "input_file", filename, file_data: urlOf(source) }];
    }
    default:
      return [];
  }
}

function urlOf(source: MediaSource): string {
  if (source.kind === "base64") return dataUrl(source);
  return source.kind === "url" ? source.url : "";
}

function textPart(text: string): JsonObject {
  return { type: "input_text", text };
}

function searchTool(
  request: ChatRequest,
  { allowedDomains, blockedDomains, location, contextSize }: WebSearch,
): JsonObject {
  if (blockedDomains !== undefined)
    refuseFeature(request, "webSearch", "a web search with blocked domains");
  return {
    type: "web_search",
    filters: allowedDomains && { allowed_domains: allowedDomains },
    search_context_size: contextSize,
    user_location: location && { type: "approximate", ...location },
  };
}

function toolChoice({ webSearch, toolChoice: choice }: ChatRequest): unknown {
  if (webSearch?.isForced === true) {
    return { type: "allowed_tools", mode: "required", tools: [{ type: "web_search" }] };
  }
  return choice?.kind === "tool" ? { type: "function", name: choice.name } : choice?.kind;
}

function textOf({ output, verbosity }: ChatRequest): JsonObject | undefined {
  if (output === undefined && verbosity === undefined) return undefined;
  return { format: output && textFormat(output), verbosity };
}

function textFormat(output: OutputFormat): JsonObject {
  if (output.kind === "object") return { type: "json_object" };
  const { name, description, schema, isStrict: strict } = output;
  return { type: "json_schema", name, description, schema, strict };
}

/** A summary of the reasoning is only requested for clients that show it: OpenAI refuses it to some organizations. */
function reasoningOf(reasoning: Reasoning): JsonObject {
  if (reasoning.kind === "off") return { effort: "none" };
  const effort = effortOf(reasoning);
  return {
    // The highest that OpenAI's documentation lists.
    effort: effort === "max" ? "xhigh" : effort,
    ...(reasoning.isShown === true && { summary: "auto" }),
  };
}
