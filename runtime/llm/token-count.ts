import type { Exchange } from "../http/exchange.ts";
import type { ChatCall } from "./calls/chat-call.ts";
import { estimateTokens } from "./formats/token-count/estimate.ts";

/** Says about how many tokens a request of the Messages API has. Throws LlmRefusal when it is no JSON inside. */
export function respondTokenEstimate(exchange: Exchange, call: ChatCall): void {
  const body = JSON.stringify({ input_tokens: estimateTokens(call.body) });
  exchange.respond(200, ["content-type", "application/json"], body);
}
