import type { Exchange } from "../http/exchange.ts";
import type { ChatCall } from "./calls/chat-call.ts";
import { estimateContentTokens } from "./formats/content-token-count/estimate.ts";
import { estimateTokens } from "./formats/token-count/estimate.ts";

/**
 * Responds with the estimated tokens of a request of the Messages API. Throws LlmRefusal if nested values are not valid
 * JSON.
 */
export function respondTokenEstimate(exchange: Exchange, call: ChatCall): void {
  const body = JSON.stringify({ input_tokens: estimateTokens(call.body) });
  exchange.respond(200, ["content-type", "application/json"], body);
}

/** Responds in the same way to a request of Google's API. */
export function respondContentTokenEstimate(exchange: Exchange, call: ChatCall): void {
  const body = JSON.stringify({ totalTokens: estimateContentTokens(call.body) });
  exchange.respond(200, ["content-type", "application/json"], body);
}
