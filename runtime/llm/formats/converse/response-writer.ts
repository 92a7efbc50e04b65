import type { JsonObject } from "../../../cel/variables.ts";
import type { OriginalRequest } from "../../chat/formats.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "../../chat/response.ts";
import type { WebPage } from "../../chat/web-search.ts";
import { replaySignature } from "../generate-content/replayed-reasoning.ts";
import { parseObject } from "../parse-object.ts";
import { converseMetadata } from "./usage.ts";

/** Writes a whole response of Bedrock's Converse. */
export function writeConverseResponse(response: ChatResponse, request: OriginalRequest): string {
  const { blocks, stop, usage } = response;
  return JSON.stringify({
    output: { message: { role: "assistant", content: blocks.flatMap(contentBlock) } },
    stopReason: converseStop(stop),
    ...converseMetadata(usage, request),
  });
}

function contentBlock(block: ResponseBlock): readonly JsonObject[] {
  switch (block.kind) {
    case "text": {
      const { text, citations = [] } = block;
      if (citations.length === 0) return [{ text }];
      return [{ citationsContent: { content: [{ text }], citations: citations.map(citedPage) } }];
    }
    case "tool-call": {
      const { id, name, input } = block;
      return [{ toolUse: { toolUseId: id, name, input: inputOf(input) } }];
    }
    case "reasoning": {
      const { text, signature } = block;
      return [{ reasoningContent: { reasoningText: { text, signature } } }];
    }
    case "redacted-reasoning":
      return [{ reasoningContent: { redactedContent: redactedContent(block.data) } }];
    case "search":
    case "hosted":
      return [];
  }
}

/** Broken arguments are passed as a string. */
function inputOf(input: string): JsonObject {
  return input === "" ? {} : (parseObject(input) ?? { arguments: input });
}

/** Writes encrypted reasoning of any provider as bytes. */
export function redactedContent(data: string): string {
  return replaySignature("redacted", data);
}

/** Writes a page that a text cites. */
export function citedPage({ url, title }: WebPage): JsonObject {
  return { title, location: { web: { url } } };
}

/** Returns `stopReason`. */
export function converseStop(stop: StopReason): string {
  switch (stop) {
    case "length":
      return "max_tokens";
    case "filtered":
      return "content_filtered";
    case "stop-sequence":
      return "stop_sequence";
    case "tool-calls":
      return "tool_use";
    case "end":
    case "pause":
      return "end_turn";
  }
}
