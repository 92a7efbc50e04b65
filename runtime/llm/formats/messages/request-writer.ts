import type { JsonObject } from "../../../cel/variables.ts";
import { parseExact } from "../../../json/exact-json.ts";
import type { CacheMark, ContentBlock, DocumentBlock, MediaSource } from "../../chat/content.ts";
import type { FeatureSupport } from "../../chat/features.ts";
import type { Dialect } from "../../chat/formats.ts";
import { LlmRefusal } from "../../chat/llm-error.ts";
import {
  type ChatRequest,
  hasHostedTools,
  type ToolChoice,
  type Turn,
} from "../../chat/request.ts";
import type { WebSearch } from "../../chat/web-search.ts";
import { decodedFile } from "../data-url.ts";
import { OBJECT_INSTRUCTION } from "../object-instruction.ts";
import { claudeReasoning, isSigned } from "../thinking.ts";
import { userId } from "../user-id.ts";
import { withBreakpoints } from "./cache-breakpoints.ts";
import { anthropicTools, connectorsOf } from "./hosted-tools.ts";

/** Support of features in the Messages API. */
export const MESSAGES_SUPPORT: FeatureSupport = {
  imageUrl: "kept",
  image: "kept",
  documentUrl: "kept",
  document: "kept",
  fileReference: "refused",
  audio: "refused",
  toolResultMedia: "kept",
  toolError: "kept",
  strictTools: "kept",
  toolChoice: "kept",
  allowedTools: "kept",
  parallelTools: "kept",
  webSearch: "kept",
  webFetch: "kept",
  codeExecution: "kept",
  connectors: "kept",
  // Range 0..1 here: higher values become 1. Not with reasoning, and neither are top_k and a forced tool.
  temperature: "changed",
  topP: "kept",
  topK: "kept",
  penalties: "dropped",
  seed: "dropped",
  choices: "refused",
  stop: "kept",
  blankStop: "refused",
  objectOutput: "changed",
  schemaOutput: "kept",
  reasoning: "changed",
  // Only with signatures.
  reasoningReplay: "changed",
  cacheMarks: "kept",
  user: "kept",
};

/** Writes a request for Anthropic's Messages API. */
export function writeMessagesRequest(request: ChatRequest, dialect: Dialect): string {
  const body = messagesBody(request, dialect);
  const { caching } = dialect;
  return JSON.stringify(caching === undefined ? body : withBreakpoints(body, caching));
}

function messagesBody(request: ChatRequest, dialect: Dialect): JsonObject {
  refuseOtherFiles(request);
  const { maxOutput = dialect.defaultMaxTokens ?? 4096 } = request.traits ?? {};
  const defaultMaxTokens = Math.min(maxOutput, MAX_DEFAULT_TOKENS);
  const reasoning = claudeReasoning(request, defaultMaxTokens);
  const { isThinking, thinking, effort } = reasoning;
  const { temperature, tools, webSearch, stop } = request;
  const isSampled = reasoning.takesSampling && !isThinking;
  return {
    model: request.model,
    max_tokens: reasoning.maxTokens ?? defaultMaxTokens,
    system: systemOf(request),
    messages: request.turns.map(messageOf).filter(({ content }) => content.length > 0),
    mcp_servers: connectorsOf(request),
    ...((tools.length > 0 || hasHostedTools(request)) && {
      tools: [
        ...tools.map(({ name, description, schema, isStrict, isCached }) => ({
          name,
          description,
          input_schema: schema,
          ...(isStrict === true && { strict: true }),
          ...(isCached && { cache_control: { type: "ephemeral" } }),
        })),
        ...(webSearch === undefined ? [] : [searchTool(webSearch)]),
        ...anthropicTools(request),
      ],
      tool_choice: toolChoice(request, isThinking),
    }),
    temperature:
      isSampled && temperature !== undefined ? Math.min(1, Math.max(0, temperature)) : undefined,
    top_p: isSampled ? request.topP : undefined,
    top_k: isSampled ? request.topK : undefined,
    stop_sequences: stop.length === 0 ? undefined : stop,
    thinking,
    output_config: outputConfig(request, effort),
    metadata: request.user === undefined ? undefined : { user_id: userId(request.user, MAX_USER) },
    stream: request.isStream ? true : undefined,
  };
}

/** Maximum default of `max_tokens` for a model whose limit is known: providers reserve that many tokens of a rate limit. */
const MAX_DEFAULT_TOKENS = 32_000;

/** Maximum length of `metadata.user_id`. */
const MAX_USER = 256;

function outputConfig({ output }: ChatRequest, effort: string | undefined): JsonObject | undefined {
  if (output?.kind !== "schema") return effort === undefined ? undefined : { effort };
  return { effort, format: { type: "json_schema", schema: output.schema } };
}

function systemOf({ system, output }: ChatRequest): unknown {
  const blocks = system.map(({ text, cache }) => ({ type: "text", text, ...cached(cache) }));
  if (output?.kind === "object") blocks.push({ type: "text", text: OBJECT_INSTRUCTION });
  const [only] = blocks;
  if (only === undefined) return undefined;
  return blocks.length === 1 && !("cache_control" in only) ? only.text : blocks;
}

function messageOf({ role, blocks }: Turn): {
  readonly role: string;
  readonly content: JsonObject[];
} {
  return { role, content: blocks.flatMap(blockOf) };
}

function blockOf(block: ContentBlock): readonly JsonObject[] {
  switch (block.kind) {
    case "text":
      // Empty texts are refused.
      if (block.text === "") return [];
      return [{ type: "text", text: block.text, ...cached(block.cache) }];
    case "image":
      return [{ type: "image", source: sourceOf(block.source), ...cached(block.cache) }];
    case "document": {
      const { source, name: title, cache } = block;
      return [{ type: "document", source: documentSource(source), title, ...cached(cache) }];
    }
    case "tool-call": {
      const { id, name, input, cache } = block;
      return [{ type: "tool_use", id: idOf(id), name, input: parseExact(input), ...cached(cache) }];
    }
    case "tool-result": {
      const { id, content, isError, cache } = block;
      return [
        {
          type: "tool_result",
          tool_use_id: idOf(id),
          content: content.flatMap(blockOf),
          ...(isError && { is_error: true }),
          ...cached(cache),
        },
      ];
    }
    case "reasoning": {
      const { text: thinking, signature } = block;
      return isSigned(block) ? [{ type: "thinking", thinking, signature }] : [];
    }
    case "redacted-reasoning":
      return [{ type: "redacted_thinking", data: block.data }];
    case "audio":
      return [];
  }
}

/** Refuses files that are neither PDF nor text. */
function refuseOtherFiles({ turns, features }: ChatRequest): void {
  const field = features.get("document");
  for (const { blocks } of turns) {
    for (const block of blocks) {
      if (block.kind === "document") refuseOtherFile(block, field);
      if (block.kind !== "tool-result") continue;
      for (const each of block.content) {
        if (each.kind === "document") refuseOtherFile(each, field);
      }
    }
  }
}

function refuseOtherFile({ source }: DocumentBlock, field: string | undefined): void {
  if (source.kind !== "base64") return;
  const { mediaType } = source;
  if (mediaType === PDF || decodedFile(source) !== undefined) return;
  const message = `a file of type "${mediaType}" is not supported by the provider of this route`;
  throw new LlmRefusal({ kind: "unsupported", message, field });
}

const PDF = "application/pdf";

function documentSource(source: DocumentBlock["source"]): JsonObject {
  if (source.kind === "text") return plainText(source.text);
  // Files in base64 must be PDF here.
  const text = source.kind === "base64" ? decodedFile(source) : undefined;
  return text === undefined ? sourceOf(source) : plainText(text);
}

function plainText(data: string): JsonObject {
  return { type: "text", media_type: "text/plain", data };
}

function sourceOf(source: MediaSource): JsonObject {
  switch (source.kind) {
    case "base64":
      return { type: "base64", media_type: source.mediaType, data: source.data };
    case "url":
      return { type: "url", url: source.url };
    case "file":
      return { type: "file", file_id: source.id };
  }
}

function cached(cache: CacheMark | undefined): JsonObject {
  if (cache === undefined) return {};
  return {
    cache_control: { type: "ephemeral", ...(cache.ttl !== undefined && { ttl: cache.ttl }) },
  };
}

/** Replaces characters that ids must not contain. Equal ids are changed in the same way. */
function idOf(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, "_");
}

function searchTool({ maxUses, allowedDomains, blockedDomains, location }: WebSearch): JsonObject {
  return {
    type: "web_search_20250305",
    name: WEB_SEARCH,
    max_uses: maxUses,
    allowed_domains: allowedDomains,
    blocked_domains: blockedDomains,
    user_location: location && { type: "approximate", ...location },
  };
}

const WEB_SEARCH = "web_search";

function toolChoice(request: ChatRequest, isThinking: boolean): JsonObject | undefined {
  const serial = request.parallelTools === false && { disable_parallel_tool_use: true };
  const isSearch = request.webSearch?.isForced === true;
  const wanted = isSearch ? ({ kind: "tool", name: WEB_SEARCH } as const) : request.toolChoice;
  const choice: ToolChoice = wanted ?? { kind: "auto" };
  if (wanted === undefined && serial === false) return undefined;
  switch (choice.kind) {
    case "none":
      return { type: "none" };
    case "auto":
      return { type: "auto", ...serial };
    case "required":
      return { type: isThinking ? "auto" : "any", ...serial };
    case "tool":
      return isThinking
        ? { type: "auto", ...serial }
        : { type: "tool", name: choice.name, ...serial };
  }
}
