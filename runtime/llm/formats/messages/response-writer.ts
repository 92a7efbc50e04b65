import type { JsonObject } from "../../../cel/variables.ts";
import { parseExact } from "../../../json/exact-json.ts";
import { isTooDeep } from "../../../json/nesting.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "../../chat/response.ts";
import { messagesUsage } from "./usage.ts";

/** Writes a whole completion as Anthropic's Messages API does. */
export function writeMessagesResponse(response: ChatResponse): string {
  const { blocks, stop, usage } = response;
  const hasCalls = blocks.some(({ kind }) => kind === "tool-call");
  return JSON.stringify({
    id: response.id ?? `msg_${crypto.randomUUID()}`,
    type: "message",
    role: "assistant",
    model: response.model,
    content: blocks.map(blockOf),
    stop_reason: stopReason(stop, hasCalls),
    stop_sequence: response.stopSequence ?? null,
    stop_details: null,
    container: null,
    usage: messagesUsage(usage ?? noUsage),
  });
}

/** The API has no way to say that nobody counted. */
export const noUsage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: undefined };

function blockOf(block: ResponseBlock): JsonObject {
  switch (block.kind) {
    case "text":
      return textBlock(block.text);
    case "tool-call":
      return toolUseBlock(block.id, block.name, objectOf(block.input));
    case "reasoning":
      return { type: "thinking", thinking: block.text, signature: block.signature ?? "" };
    case "redacted-reasoning":
      return { type: "redacted_thinking", data: block.data };
  }
}

/** Words of the model; without `citations`: there are clients that take no null there. */
export function textBlock(text: string): JsonObject {
  return { type: "text", text };
}

/** A call of one of the client's tools. */
export function toolUseBlock(id: string, name: string, input: unknown): JsonObject {
  return { type: "tool_use", id, name, input, caller: { type: "direct" } };
}

/** Models write broken JSON at times: the tool sees what they wrote. */
function objectOf(input: string): unknown {
  try {
    return isTooDeep(input) ? { arguments: input } : parseExact(input);
  } catch {
    return { arguments: input };
  }
}

/** `stop_reason`; providers without a word for calls say that the turn ended. */
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
