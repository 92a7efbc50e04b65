import type { JsonObject } from "../../../cel/variables.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "../../chat/response.ts";
import type { SearchBlock, WebPage } from "../../chat/web-search.ts";
import { parseObject } from "../parse-object.ts";
import { fetchedPages, programParts } from "./hosted-parts.ts";
import { replaySignature } from "./replayed-reasoning.ts";
import { generateContentUsage } from "./usage.ts";

/** Writes a whole completion as generateContent does. */
export function writeGenerateContentResponse(response: ChatResponse): string {
  const { id, model, blocks, stop, usage } = response;
  const searches = blocks.filter((block) => block.kind === "search");
  const cited = blocks.flatMap((block) => (block.kind === "text" ? (block.citations ?? []) : []));
  const candidate = {
    content: { role: "model", parts: blocks.flatMap(partsOf) },
    finishReason: candidateFinish(stop),
    index: 0,
    ...grounding(searches, cited),
    ...fetchedPages(blocks.filter((block) => block.kind === "hosted")),
  };
  return JSON.stringify({
    candidates: [candidate],
    ...(usage && { usageMetadata: generateContentUsage(usage) }),
    modelVersion: model,
    responseId: id ?? crypto.randomUUID(),
  });
}

function partsOf(block: ResponseBlock): readonly JsonObject[] {
  switch (block.kind) {
    case "text":
      return [{ text: block.text }];
    case "tool-call":
      return [callPart(block.id, block.name, block.input, block.signature)];
    case "reasoning": {
      const { text, signature } = block;
      const signed = signature && { thoughtSignature: replaySignature("signature", signature) };
      return [{ text, thought: true, ...signed }];
    }
    case "redacted-reasoning":
      return [redactedPart(block.data)];
    case "search":
      return [];
    case "hosted":
      return programParts(block);
  }
}

/** Writes a call of a function. Broken arguments are passed as a string. */
export function callPart(
  id: string,
  name: string,
  input: string,
  signature: string | undefined,
): JsonObject {
  const args = input === "" ? {} : (parseObject(input) ?? { arguments: input });
  return {
    functionCall: { id, name, args },
    ...(signature !== undefined && { thoughtSignature: signature }),
  };
}

/** Writes encrypted reasoning. */
export function redactedPart(data: string): JsonObject {
  return { text: "", thought: true, thoughtSignature: replaySignature("redacted", data) };
}

/** Returns the member of a candidate that names searches, and pages that were cited; nothing if there were none. */
export function grounding(searches: readonly SearchBlock[], cited: readonly WebPage[]): JsonObject {
  const found = searches.flatMap((search) => search.pages);
  const others = cited.filter(({ url }) => !found.some((page) => page.url === url));
  const pages = [...found, ...others];
  if (searches.length === 0 && pages.length === 0) return {};
  return {
    groundingMetadata: {
      ...(searches.length > 0 && { webSearchQueries: searches.map(({ query }) => query) }),
      groundingChunks: pages.map(({ url, title }) => ({ web: { uri: url, title } })),
    },
  };
}

/** Returns `finishReason`. There is none for calls. */
export function candidateFinish(stop: StopReason): string {
  switch (stop) {
    case "length":
      return "MAX_TOKENS";
    case "filtered":
      return "SAFETY";
    default:
      return "STOP";
  }
}
