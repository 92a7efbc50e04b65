import type { JsonObject } from "../../../cel/variables.ts";
import { parseExact } from "../../../json/exact-json.ts";
import { isTooDeep } from "../../../json/nesting.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "../../chat/response.ts";
import type { SearchBlock, WebPage } from "../../chat/web-search.ts";
import { hostedBlocks } from "./hosted-results.ts";
import { messagesUsage } from "./usage.ts";

/** Writes a whole completion as Anthropic's Messages API does. */
export function writeMessagesResponse(response: ChatResponse): string {
  const { blocks, stop, usage } = response;
  const hasCalls = blocks.some(({ kind }) => kind === "tool-call");
  const isRefused = blocks.some((block) => block.kind === "text" && block.isRefusal);
  return JSON.stringify({
    id: response.id ?? `msg_${crypto.randomUUID()}`,
    type: "message",
    role: "assistant",
    model: response.model,
    content: blocks.flatMap(blocksOf),
    stop_reason: stopReason(isRefused ? "filtered" : stop, hasCalls),
    stop_sequence: response.stopSequence ?? null,
    stop_details: null,
    container: null,
    usage: messagesUsage(usage ?? ZERO_USAGE),
  });
}

/** Zeros, because the API cannot express that the usage is unknown. */
export const ZERO_USAGE = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: undefined,
};

function blocksOf(block: ResponseBlock): readonly JsonObject[] {
  switch (block.kind) {
    case "text": {
      const { text, citations } = block;
      const cited = citations?.map((page) => citation(page, text));
      return [{ ...textBlock(text), ...(cited && { citations: cited }) }];
    }
    case "tool-call":
      return [toolUseBlock(block.id, block.name, objectOf(block.input))];
    case "reasoning":
      return [{ type: "thinking", thinking: block.text, signature: block.signature ?? "" }];
    case "redacted-reasoning":
      return [{ type: "redacted_thinking", data: block.data }];
    case "search":
      return searchBlocks(block);
    case "hosted":
      return hostedBlocks(block);
  }
}

/** Writes a search as the call of Anthropic's own tool, and its result. */
export function searchBlocks({ id, query, pages }: SearchBlock): readonly JsonObject[] {
  const caller = { type: "direct" };
  const own = `srvtoolu_${id.replace(/\W/g, "_")}`;
  const content = pages.map(({ url, title }) => {
    return { type: "web_search_result", url, title, encrypted_content: "", page_age: null };
  });
  return [
    { type: "server_tool_use", id: own, name: "web_search", input: { query }, caller },
    { type: "web_search_tool_result", tool_use_id: own, content, caller },
  ];
}

/** Writes the citation of a page. */
export function citation({ url, title }: WebPage, text: string): JsonObject {
  return { type: "web_search_result_location", url, title, cited_text: text, encrypted_index: "" };
}

/** Writes a text block, without `citations`, because some clients do not accept null there. */
export function textBlock(text: string): JsonObject {
  return { type: "text", text };
}

/** Writes a call of one of the client's tools. */
export function toolUseBlock(id: string, name: string, input: unknown): JsonObject {
  return { type: "tool_use", id, name, input, caller: { type: "direct" } };
}

/** Parses a tool's input. If the model wrote broken JSON, the tool gets the string. */
function objectOf(input: string): unknown {
  try {
    return isTooDeep(input) ? { arguments: input } : parseExact(input);
  } catch {
    return { arguments: input };
  }
}

/** Returns `stop_reason`. Some providers report a normal end for tool calls. */
export function stopReason(stop: StopReason, hasCalls: boolean): string {
  switch (stop) {
    case "end":
      return hasCalls ? "tool_use" : "end_turn";
    case "stop-sequence":
      return "stop_sequence";
    case "length":
      return "max_tokens";
    case "tool-calls":
      return "tool_use";
    case "filtered":
      return "refusal";
    case "pause":
      return "pause_turn";
  }
}
