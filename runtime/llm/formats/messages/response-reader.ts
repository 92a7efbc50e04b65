import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../chat/request-object.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "../../chat/response.ts";
import { providerText } from "../text-value.ts";
import { readMessagesUsage } from "./usage.ts";

/** Reads a whole response of a server of the Messages API. Throws when it has no content. */
export function readMessagesResponse(body: JsonObject): ChatResponse {
  if (!Array.isArray(body.content)) throw new Error("no content in the response");
  return {
    id: providerText(body.id),
    model: providerText(body.model) ?? "",
    blocks: body.content.filter(isJsonObject).flatMap(readBlock),
    stop: readStop(body.stop_reason),
    stopSequence: providerText(body.stop_sequence),
    usage: readMessagesUsage(body.usage),
  };
}

/** A block that no other format has (a server's own tools, which nobody asked for) is left out. */
function readBlock(block: JsonObject): readonly ResponseBlock[] {
  switch (block.type) {
    case "text":
      return [{ kind: "text", text: providerText(block.text) ?? "" }];
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
      return [];
  }
}

/** What `stop_reason` means; an unknown one is an end like any other. */
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
