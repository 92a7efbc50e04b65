import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { PromptCaching } from "../../chat/formats.ts";
import { lastCached } from "../last-cached.ts";
import { tokensOfWords, wordsIn } from "../prompt-words.ts";

/** Parts of a request of the Messages API that Anthropic caches, in the order in which a model reads them. */
export const CACHED_PARTS = ["tools", "system", "messages"] as const;

/** Maximum number of breakpoints of a request. */
const MAX_BREAKPOINTS = 4;

/**
 * Adds the configured breakpoints to a request, as far as there is room next to the client's own. Returns the request itself
 * if it gets none.
 */
export function withBreakpoints(request: JsonObject, caching: PromptCaching): JsonObject {
  // The client lets Anthropic place them.
  if (request.cache_control !== undefined) return request;
  const own = JSON.stringify(CACHED_PARTS.map((part) => request[part]) ?? "").split(MARK).length;
  let left = MAX_BREAKPOINTS - (own - 1);
  let words = 0;
  let marked = request;
  for (const part of CACHED_PARTS) {
    const value = request[part];
    const end = Array.isArray(value) ? lastCached(value.length, caching) + 1 : 0;
    const cached = part === "messages" && Array.isArray(value) ? value.slice(0, end) : value;
    words += wordsIn(cached);
    if (left <= 0 || !caching[part] || tokensOfWords(words) < caching.minTokens) continue;
    const changed = part === "messages" ? markedHistory(value, caching) : markedEnd(value);
    if (changed === value) continue;
    marked = { ...marked, [part]: changed };
    left -= 1;
  }
  return marked;
}

const MARK = '"cache_control":{';

const BREAKPOINT = { type: "ephemeral" };

/** Marks the end of the messages that are cached. */
function markedHistory(messages: unknown, caching: PromptCaching): unknown {
  if (!Array.isArray(messages)) return messages;
  const at = lastCached(messages.length, caching);
  const message: unknown = messages[at];
  if (!isJsonObject(message)) return messages;
  const content = markedEnd(message.content);
  return content === message.content ? messages : messages.with(at, { ...message, content });
}

/** Marks the end of a text, or of a list of blocks or tools. Returns the value itself if it cannot be marked. */
function markedEnd(value: unknown): unknown {
  if (typeof value === "string") {
    return value.trim() === "" ? value : [{ type: "text", text: value, cache_control: BREAKPOINT }];
  }
  if (!Array.isArray(value)) return value;
  const at = value.findLastIndex(isMarkable);
  const last: unknown = value[at];
  if (!isJsonObject(last) || last.cache_control !== undefined) return value;
  return value.with(at, { ...last, cache_control: BREAKPOINT });
}

/** Anthropic refuses breakpoints at reasoning, empty texts and tools that are loaded later. */
function isMarkable(block: unknown): boolean {
  if (!isJsonObject(block) || block.defer_loading === true) return false;
  const { type, text } = block;
  if (type === "text") return typeof text === "string" && text.trim() !== "";
  return type !== "thinking" && type !== "redacted_thinking";
}
