import type { Exchange } from "../../http/exchange.ts";
import { queryValue } from "../../http/routing/query.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { ChatCall } from "./chat-call.ts";
import { readPathCall } from "./path-call.ts";

/** Matches the path of a call to generateContent, whatever is before `/models/`. */
const PATH = /\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/;

/** Reads a call to generateContent, or one that counts its tokens. Throws LlmRefusal. */
export function readContentCall(exchange: Exchange): ChatCall {
  const [, name = "", method] = PATH.exec(exchange.path) ?? [];
  const isStream = method === "streamGenerateContent";
  if (isStream && queryValue(exchange.query, "alt") !== "sse") {
    const message = "streams are server-sent events here: add the parameter `alt=sse`";
    throw new LlmRefusal({ kind: "invalid", message, field: "alt" });
  }
  return readPathCall(exchange, name, isStream);
}
