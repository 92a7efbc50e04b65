import { isJsonObject } from "../../../json/json-object.ts";
import type { TextFormat } from "../../chat/texts.ts";

/** Texts of requests that rank documents. Responses repeat the documents if the client asks for them. */
export const rerankTexts: TextFormat = {
  request: ["query", "documents"],
  // Of an object, a server may rank any member.
  unreadable: ({ query, documents }) => {
    if (typeof query !== "string") return "query";
    return Array.isArray(documents) && documents.every(isReadable) ? undefined : "documents";
  },
  plain: new Set([
    ...["model", "top_n", "top_k", "return_documents", "max_tokens_per_doc"],
    ...["max_chunks_per_doc", "truncation", "return_embeddings", "priority", "user"],
  ]),
  response: ["results", "data"],
  plainResponse: new Set(["id", "object", "model", "usage", "meta"]),
  openStream: () => ({ see: (event) => [event], end: () => [] }),
};

function isReadable(document: unknown): boolean {
  if (typeof document === "string") return true;
  const members = isJsonObject(document) ? Object.entries(document) : [];
  return members.length === 1 && members.every(([key, text]) => key === "text" && isString(text));
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}
