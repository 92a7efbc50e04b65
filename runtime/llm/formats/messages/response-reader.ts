import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { ChatResponse, RefusalBlock, ResponseBlock, StopReason } from "../../chat/response.ts";
import type { SearchBlock } from "../../chat/web-search.ts";
import { isFilledText, providerText } from "../parse-object.ts";
import { citing, readPages } from "../web-pages.ts";
import { readHostedResult } from "./hosted-results.ts";
import { readMessagesUsage } from "./usage.ts";

/** Reads a whole response of the Messages API. Throws if it has no content. */
export function readMessagesResponse(body: JsonObject): ChatResponse {
  if (!Array.isArray(body.content)) throw new Error("no content in the response");
  return {
    id: providerText(body.id),
    model: providerText(body.model) ?? "",
    blocks: body.content
      .filter(isJsonObject)
      .flatMap((block, _index, blocks) =>
        block.type === "web_search_tool_result"
          ? [readSearch(block, blocks)]
          : readBlock(block, blocks),
      )
      .concat(readExplanation(body)),
    stop: readStop(body.stop_reason),
    stopSequence: providerText(body.stop_sequence),
    usage: readMessagesUsage(body.usage),
  };
}

/** Reads the results of a search. `blocks`: those of the response, which include its call. */
export function readSearch(
  { tool_use_id: id, content }: JsonObject,
  blocks: readonly JsonObject[],
): SearchBlock {
  const call = blocks.find((block) => block.id === id);
  const { query } = isJsonObject(call?.input) ? call.input : {};
  return {
    kind: "search",
    id: providerText(id) ?? "",
    query: providerText(query) ?? "",
    pages: readPages(content),
  };
}

/** Reads a block, and the call of a tool with its result. Throws for content that no other format has. */
function readBlock(block: JsonObject, blocks: readonly JsonObject[]): readonly ResponseBlock[] {
  switch (block.type) {
    case "text":
      return [
        {
          kind: "text",
          text: providerText(block.text) ?? "",
          ...citing(readPages(block.citations)),
        },
      ];
    case "tool_use":
      return [
        {
          kind: "tool-call",
          id: providerText(block.id) ?? "",
          name: providerText(block.name) ?? "",
          input: JSON.stringify(block.input ?? {}),
        },
      ];
    case "thinking": {
      const signature = providerText(block.signature);
      return [{ kind: "reasoning", text: providerText(block.thinking) ?? "", signature }];
    }
    case "redacted_thinking":
      return [{ kind: "redacted-reasoning", data: providerText(block.data) ?? "" }];
    default:
      if (isServerBlock(block)) return readHostedResult(block, blocks);
      throw new Error(`the response has a block of type "${block.type}"`);
  }
}

/** Whether a block is a call that a server ran, or its result. */
export function isServerBlock({ type }: JsonObject): boolean {
  if (type === "server_tool_use" || type === "mcp_tool_use") return true;
  return typeof type === "string" && type.endsWith("_tool_result");
}

/** Reads the explanation of a refusal, which is the text with which a model of OpenAI refuses. */
export function readExplanation({ stop_details: details }: JsonObject): readonly RefusalBlock[] {
  const explanation = isJsonObject(details) ? details.explanation : undefined;
  return isFilledText(explanation) ? [{ kind: "text", text: explanation, isRefusal: true }] : [];
}

/** Reads `stop_reason`; unknown values are a normal end. */
export function readStop(reason: unknown): StopReason {
  switch (reason) {
    case "stop_sequence":
      return "stop-sequence";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "tool-calls";
    case "refusal":
      return "filtered";
    case "pause_turn":
      return "pause";
    default:
      return "end";
  }
}
