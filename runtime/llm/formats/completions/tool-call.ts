import type { JsonObject } from "../../../cel/variables.ts";
import type { ToolCallBlock } from "../../chat/content.ts";

/** A tool call of a message, as chat completions have it in requests and responses alike. */
export function completionsToolCall({ id, name, input, signature }: ToolCallBlock): JsonObject {
  return {
    id,
    type: "function",
    function: { name, arguments: input },
    ...(signature !== undefined && {
      extra_content: { google: { thought_signature: signature } },
    }),
  };
}
