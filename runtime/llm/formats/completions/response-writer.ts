import type { JsonObject } from "../../../cel/variables.ts";
import type { ToolCallBlock } from "../../chat/content.ts";
import type { OriginalRequest } from "../../chat/formats.ts";
import type { ChatResponse, StopReason } from "../../chat/response.ts";
import { CitedText } from "../../chat/web-search.ts";
import { freeText } from "../responses/agent-calls.ts";
import { customNames } from "./custom-tools.ts";
import { completionsToolCall } from "./tool-call.ts";
import { completionsUsage } from "./usage.ts";

/** Writes a whole completion as OpenAI's chat completions do. */
export function writeCompletionsResponse(
  response: ChatResponse,
  { body }: Pick<OriginalRequest, "body">,
): string {
  const { blocks, usage } = response;
  const texts = blocks.flatMap((block) => (block.kind === "text" ? [block.text] : []));
  const annotations = annotationsOf(blocks);
  const reasoning = blocks.flatMap((block) =>
    block.kind === "reasoning" && block.text !== "" ? [block.text] : [],
  );
  const calls = blocks.flatMap((block) => (block.kind === "tool-call" ? [block] : []));
  const custom = customNames(body);
  const signature = blocks.findLast(
    (block) => block.kind === "reasoning" && block.signature !== undefined,
  );
  return JSON.stringify({
    id: response.id ?? `chatcmpl-${crypto.randomUUID()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: response.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: texts.length === 0 ? null : texts.join(""),
          refusal: null,
          ...(annotations.length > 0 && { annotations }),
          ...(reasoning.length > 0 && { reasoning_content: reasoning.join("\n") }),
          ...(signature?.kind === "reasoning" && { reasoning_signature: signature.signature }),
          ...(calls.length > 0 && { tool_calls: calls.map((call) => callOf(call, custom)) }),
        },
        logprobs: null,
        finish_reason: finishReason(response.stop, calls.length > 0),
      },
    ],
    ...(usage && { usage: completionsUsage(usage) }),
  });
}

/** Writes a call as one of the client's tool, which may take any text. */
function callOf(call: ToolCallBlock, custom: ReadonlySet<string>): JsonObject {
  const { id, name, input } = call;
  if (!custom.has(name)) return completionsToolCall(call);
  return { id, type: "custom", custom: { name, input: freeText(input) } };
}

function annotationsOf(blocks: ChatResponse["blocks"]): readonly JsonObject[] {
  const cited = new CitedText();
  return blocks.flatMap((block) => {
    if (block.kind !== "text") return [];
    cited.add(block.text);
    return (block.citations ?? []).map((page) => messageAnnotation(cited.cite(page)));
  });
}

/** Writes a citation as an annotation of a message. */
export function messageAnnotation(cited: JsonObject): JsonObject {
  return { type: "url_citation", url_citation: cited };
}

/** Returns `finish_reason`. Some providers report a normal end for tool calls. */
export function finishReason(stop: StopReason, hasCalls: boolean): string {
  switch (stop) {
    case "length":
      return "length";
    case "filtered":
      return "content_filter";
    case "tool-calls":
      return "tool_calls";
    default:
      return hasCalls ? "tool_calls" : "stop";
  }
}
