import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../chat/request-object.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "../../chat/response.ts";
import { providerText } from "../parse-object.ts";
import { readCompletionsUsage } from "./usage.ts";

/** Reads a whole response of chat completions. Throws if it has no choice. */
export function readCompletionsResponse(body: JsonObject): ChatResponse {
  const [choice] = Array.isArray(body.choices) ? body.choices : [];
  if (!isJsonObject(choice) || !isJsonObject(choice.message))
    throw new Error("no choice in the response");
  const blocks = messageBlocks(choice.message);
  return {
    id: providerText(body.id),
    model: providerText(body.model) ?? "",
    blocks,
    stop: readFinish(
      choice.finish_reason,
      blocks.some(({ kind }) => kind === "tool-call"),
    ),
    stopSequence: undefined,
    usage: readCompletionsUsage(body.usage),
  };
}

function messageBlocks(message: JsonObject): readonly ResponseBlock[] {
  const blocks: ResponseBlock[] = [];
  const reasoning = providerText(message.reasoning_content) ?? providerText(message.reasoning);
  if (reasoning !== undefined && reasoning !== "") {
    blocks.push({
      kind: "reasoning",
      text: reasoning,
      signature: providerText(message.reasoning_signature),
    });
  }
  const text = providerText(message.content) ?? providerText(message.refusal) ?? "";
  if (text !== "") blocks.push({ kind: "text", text });
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isJsonObject) : [];
  for (const call of calls) {
    const called = isJsonObject(call.function) ? call.function : {};
    blocks.push({
      kind: "tool-call",
      id: providerText(call.id) ?? "",
      name: providerText(called.name) ?? "",
      input: providerText(called.arguments) || "{}",
      signature: thoughtSignature(call),
    });
  }
  return blocks;
}

/** Reads the thought signature, where Gemini's server of this format expects it back. */
export function thoughtSignature({ extra_content: extra }: JsonObject): string | undefined {
  const google = isJsonObject(extra) ? extra.google : undefined;
  return isJsonObject(google) ? providerText(google.thought_signature) : undefined;
}

/** Reads `finish_reason`; unknown values are a normal end. */
export function readFinish(finish: unknown, hasCalls: boolean): StopReason {
  switch (finish) {
    case "length":
      return "length";
    case "content_filter":
      return "filtered";
    case "tool_calls":
    case "function_call":
      return "tool-calls";
    default:
      return hasCalls ? "tool-calls" : "end";
  }
}
