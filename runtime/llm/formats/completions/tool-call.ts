import type { JsonObject } from "../../../cel/variables.ts";
import type { ToolCallBlock } from "../../chat/content.ts";

/** Writes a tool call of a message, in the common form of requests and responses. */
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
