import type { JsonObject } from "../../../cel/variables.ts";
import type { ToolCallBlock } from "../../chat/content.ts";
import type { OriginalRequest } from "../../chat/formats.ts";
import type { ChatResponse, StopReason } from "../../chat/response.ts";
import { CitedText } from "../../chat/web-search.ts";
import { freeText } from "../responses/agent-calls.ts";
import { tierWord } from "../service-tiers.ts";
import { customNames } from "./custom-tools.ts";
import { hasFunctions } from "./legacy-functions.ts";
import { completionsToolCall } from "./tool-call.ts";
import { completionsUsage } from "./usage.ts";

/** Writes a whole completion as OpenAI's chat completions do. */
export function writeCompletionsResponse(
  response: ChatResponse,
  { body }: Pick<OriginalRequest, "body">,
): string {
  const { blocks, usage } = response;
  const texts = textsOf(blocks, false);
  const refusals = textsOf(blocks, true);
  const annotations = annotationsOf(blocks);
  const reasoning = blocks.flatMap((block) =>
    block.kind === "reasoning" && block.text !== "" ? [block.text] : [],
  );
  const calls = blocks.flatMap((block) => (block.kind === "tool-call" ? [block] : []));
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
          refusal: refusals.length === 0 ? null : refusals.join(""),
          ...(annotations.length > 0 && { annotations }),
          ...(reasoning.length > 0 && { reasoning_content: reasoning.join("\n") }),
          ...(signature?.kind === "reasoning" && { reasoning_signature: signature.signature }),
          ...(calls.length > 0 && callMembers(calls, body)),
        },
        logprobs: null,
        finish_reason: finishReason(response.stop, calls.length > 0, hasFunctions(body)),
      },
    ],
    service_tier: tierWord("openai", usage?.tier),
    ...(usage && { usage: completionsUsage(usage) }),
  });
}

function textsOf(blocks: ChatResponse["blocks"], areRefusals: boolean): readonly string[] {
  return blocks.flatMap((block) =>
    block.kind === "text" && (block.isRefusal === true) === areRefusals ? [block.text] : [],
  );
}

/** Writes calls as the client's request expects them. */
function callMembers(calls: readonly ToolCallBlock[], body: JsonObject): JsonObject {
  const [first] = calls;
  if (first !== undefined && hasFunctions(body)) {
    return { function_call: { name: first.name, arguments: first.input } };
  }
  const custom = customNames(body);
  return { tool_calls: calls.map((call) => callOf(call, custom)) };
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
    if (block.kind !== "text" || block.isRefusal) return [];
    cited.add(block.text);
    return (block.citations ?? []).map((page) => messageAnnotation(cited.cite(page)));
  });
}

/** Writes a citation as an annotation of a message. */
export function messageAnnotation(cited: JsonObject): JsonObject {
  return { type: "url_citation", url_citation: cited };
}

/**
 * Returns `finish_reason`. Some providers report a normal end for tool calls. `isLegacy`: whether the request uses
 * `functions`.
 */
export function finishReason(stop: StopReason, hasCalls: boolean, isLegacy: boolean): string {
  const ofCalls = isLegacy ? "function_call" : "tool_calls";
  switch (stop) {
    case "length":
      return "length";
    case "filtered":
      return "content_filter";
    case "tool-calls":
      return ofCalls;
    default:
      return hasCalls ? ofCalls : "stop";
  }
}
