import type { JsonObject } from "../../../cel/variables.ts";
import type { SearchBlock } from "../../chat/web-search.ts";
import { writeReplay } from "./replay.ts";

/** Status of an item of a response. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** Writes a message of the model. */
export function messageItem(
  id: string,
  parts: readonly JsonObject[],
  status: ItemStatus,
): JsonObject {
  return { id, type: "message", status, role: "assistant", content: parts };
}

/** Writes a part of a message. */
export function textPart(text: string, annotations: readonly JsonObject[] = []): JsonObject {
  return { type: "output_text", text, annotations, logprobs: [] };
}

/** Writes a part of a message with which the model refuses the request. */
export function refusalPart(refusal: string): JsonObject {
  return { type: "refusal", refusal };
}

/** Writes a search that the provider ran. */
export function searchItem(id: string, { query, pages }: SearchBlock): JsonObject {
  const sources = pages.map(({ url }) => ({ type: "url", url }));
  const action = { type: "search", query, queries: [query], sources };
  return { id, type: "web_search_call", status: "completed", action };
}

/** Writes a citation as an annotation of a text. */
export function textAnnotation(cited: JsonObject): JsonObject {
  return { type: "url_citation", ...cited };
}

/** Writes reasoning of the model. `encrypted`: data that the provider expects back with it. */
export function reasoningItem(id: string, text: string, encrypted: string | undefined): JsonObject {
  return {
    id,
    type: "reasoning",
    summary: text === "" ? [] : [summaryPart(text)],
    ...(encrypted !== undefined && { encrypted_content: encrypted }),
  };
}

/** Writes a part of a reasoning item. */
export function summaryPart(text: string): JsonObject {
  return { type: "summary_text", text };
}

/** Returns `encrypted_content` of reasoning with a signature. */
export function signed(signature: string | undefined): string | undefined {
  return signature === undefined || signature === ""
    ? undefined
    : writeReplay({ kind: "signature", value: signature });
}

/** Writes the item before a call whose signature the provider expects back. */
export function callSignatureItem(id: string, signature: string): JsonObject {
  return reasoningItem(id, "", writeReplay({ kind: "call", value: signature }));
}

/** Writes the item of encrypted reasoning. */
export function redactedItem(id: string, data: string): JsonObject {
  return reasoningItem(id, "", writeReplay({ kind: "redacted", value: data }));
}
