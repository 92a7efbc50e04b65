import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "../../chat/response.ts";
import type { WebPage } from "../../chat/web-search.ts";
import { citing, readPage } from "../web-pages.ts";
import { readConverseUsage } from "./usage.ts";

/** Reads a whole response of Bedrock's Converse. Throws if it has no content. */
export function readConverseResponse(body: JsonObject): ChatResponse {
  const output = isJsonObject(body.output) ? body.output : {};
  const message = isJsonObject(output.message) ? output.message : {};
  if (!Array.isArray(message.content)) throw new Error("no content in the response");
  const stop = readConverseStop(body.stopReason);
  if (stop === undefined) throw new Error("the model's output is malformed");
  return {
    // Converse reports neither.
    id: undefined,
    model: "",
    blocks: message.content.filter(isJsonObject).flatMap(readBlock),
    stop,
    stopSequence: undefined,
    usage: readConverseUsage(body),
  };
}

/** Omits results of tools that Bedrock ran. Throws for content that no other format has. */
function readBlock(block: JsonObject): readonly ResponseBlock[] {
  const { text, toolUse, reasoningContent, citationsContent: cited } = block;
  if (typeof text === "string") return [{ kind: "text", text }];
  if (isJsonObject(cited) && Array.isArray(cited.content)) return readCited(cited);
  if (isJsonObject(toolUse)) {
    const { toolUseId, name, input } = toolUse;
    if (typeof toolUseId !== "string" || typeof name !== "string") return [];
    return [{ kind: "tool-call", id: toolUseId, name, input: JSON.stringify(input ?? {}) }];
  }
  if (isJsonObject(reasoningContent)) return readReasoning(reasoningContent);
  if (Object.keys(block).every((key) => WITHOUT_CONTENT.has(key))) return [];
  throw new Error(`the response has a block with "${Object.keys(block).join('", "')}"`);
}

/** Reads texts with citations, as one. */
function readCited({ content, citations }: JsonObject): readonly ResponseBlock[] {
  const texts = (Array.isArray(content) ? content : []).flatMap((part) =>
    isJsonObject(part) && typeof part.text === "string" ? [part.text] : [],
  );
  const pages = (Array.isArray(citations) ? citations : [])
    .filter(isJsonObject)
    .flatMap(readCitation);
  return [{ kind: "text", text: texts.join(""), ...citing(pages) }];
}

/** Reads a citation; none if it is not one of a page. */
export function readCitation({ title, location }: JsonObject): readonly WebPage[] {
  const web = isJsonObject(location) && isJsonObject(location.web) ? location.web : {};
  return readPage({ ...web, title });
}

/** Members of blocks and deltas that add nothing to what the model says. */
export const WITHOUT_CONTENT: ReadonlySet<string> = new Set([
  ...["toolResult", "citation", "cachePoint", "text", "toolUse", "reasoningContent"],
]);

function readReasoning({
  reasoningText,
  redactedContent: data,
}: JsonObject): readonly ResponseBlock[] {
  if (typeof data === "string") return [{ kind: "redacted-reasoning", data }];
  if (!isJsonObject(reasoningText)) return [];
  const { text, signature } = reasoningText;
  return [
    {
      kind: "reasoning",
      text: typeof text === "string" ? text : "",
      signature: typeof signature === "string" ? signature : undefined,
    },
  ];
}

/** Reads `stopReason`; unknown values are a normal end. `undefined` if the model's output is malformed. */
export function readConverseStop(reason: unknown): StopReason | undefined {
  switch (reason) {
    case "stop_sequence":
      return "stop-sequence";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "tool-calls";
    case "content_filtered":
    case "guardrail_intervened":
      return "filtered";
    case "malformed_model_output":
    case "malformed_tool_use":
      return undefined;
    default:
      return "end";
  }
}
